"""Output files: endings, devices, pipes, links, permissions, other jobs."""
# SPDX-License-Identifier: BSD-2-Clause
import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading

import pytest

import motus

SETTINGS = {"qp": 28, "backend": "cpu"}


@pytest.mark.parametrize("name", ["x.mkv", "x.gif", "x.avi", "x.mp4.part", "x", "mp4", ".mp4/x"])
def test_other_endings_are_refused(rgb, tmp_path, name):
    with pytest.raises(ValueError, match="the ending is none of .mp4, .m4v, .264, .h264, .avc"):
        motus.encode(rgb, tmp_path / name, **SETTINGS)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name, container", [("x.264", "mp4"), ("x.mp4", "h264")])
def test_endings_of_another_container(rgb, tmp_path, name, container):
    with pytest.raises(motus.ArgumentError, match="another container"):
        motus.encode(rgb, tmp_path / name, container=container, **SETTINGS)


def test_any_name_with_a_container(rgb, tmp_path):
    motus.encode(rgb, tmp_path / "video", container="mp4", **SETTINGS)
    assert (tmp_path / "video").read_bytes() == motus.encode(rgb, **SETTINGS)


@pytest.mark.parametrize("ending", [".mp4", ".M4V", ".264", ".h264", ".avc"])
def test_endings(rgb, tmp_path, ending):
    motus.encode(rgb, tmp_path / f"x{ending}", **SETTINGS)
    is_mp4 = (tmp_path / f"x{ending}").read_bytes()[4:8] == b"ftyp"
    assert is_mp4 == (ending.lower() in (".mp4", ".m4v"))


def test_permissions_stay(rgb, tmp_path):
    path = tmp_path / "x.mp4"
    path.write_bytes(b"old")
    path.chmod(0o600)
    motus.encode(rgb, path, **SETTINGS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and path.stat().st_size > 100


def test_links_are_followed(rgb, tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target.bin"
    for name, to in (("x.mp4", "middle"), ("middle", "folder/target.bin")):
        (tmp_path / name).symlink_to(to)
    for _ in range(2):  # a link to nothing, then to a file
        motus.encode(rgb, tmp_path / "x.mp4", **SETTINGS)
        assert (tmp_path / "x.mp4").is_symlink() and (tmp_path / "middle").is_symlink()
        assert target.read_bytes() == motus.encode(rgb, **SETTINGS)
    assert os.listdir(tmp_path / "folder") == ["target.bin"]
    (tmp_path / "round.mp4").symlink_to("round.mp4")
    with pytest.raises(OSError) as caught:
        motus.encode(rgb, tmp_path / "round.mp4", **SETTINGS)
    assert caught.value.errno == errno.ELOOP


def test_a_pipe_is_written_directly(rgb, tmp_path):
    path, got = tmp_path / "x.mp4", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    motus.encode(rgb, path, **SETTINGS)
    reader.join()
    assert path.is_fifo() and got == [b"".join(motus.stream(rgb, **SETTINGS))]


def test_devices_are_written_directly(rgb):
    before = os.stat("/dev/full"), os.stat("/dev/null")
    with pytest.raises(OSError) as caught:
        motus.encode(rgb, "/dev/full", **SETTINGS)
    assert caught.value.errno == errno.ENOSPC and caught.value.filename == "/dev/full"
    motus.encode(rgb, "/dev/null", **SETTINGS)
    after = os.stat("/dev/full"), os.stat("/dev/null")
    assert [(s.st_mode, s.st_ino, s.st_rdev) for s in before] == [
        (s.st_mode, s.st_ino, s.st_rdev) for s in after]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "out.mp4"])
def test_standard_output(tmp_path, name):
    """A pipe, a file that is appended to, and one that has no name any more."""
    code = ("import numpy, motus; motus.encode(numpy.zeros((3, 32, 48, 3), numpy.uint8), "
            f"{name!r}, backend='cpu')")
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(motus.__file__))}
    command = {"args": [sys.executable, "-c", code], "env": environment, "cwd": tmp_path,
               "check": True}
    (tmp_path / "out.mp4").symlink_to("/dev/stdout")
    want = subprocess.run(**command, stdout=subprocess.PIPE).stdout
    assert want[4:8] == b"ftyp"
    (tmp_path / "log").write_bytes(b"before")
    with open(tmp_path / "log", "ab") as file:
        subprocess.run(**command, stdout=file)
    assert (tmp_path / "log").read_bytes() == b"before" + want
    with open(tmp_path / "gone", "w+b") as file:
        os.unlink(tmp_path / "gone")
        subprocess.run(**command, stdout=file)
        file.seek(0)
        assert file.read() == want
    assert sorted(os.listdir(tmp_path)) == ["log", "out.mp4"]


@pytest.mark.parametrize("name", ["a" * 251, "\u00e4" * 125, "a" + "\u00e4" * 125])
def test_the_longest_names(rgb, tmp_path, name):
    motus.encode(rgb, tmp_path / f"{name}.mp4", **SETTINGS)
    assert os.listdir(tmp_path) == [f"{name}.mp4"]


def test_errors_name_the_output(rgb, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/x\.mp4'$"):
        motus.encode(rgb, tmp_path / "nowhere" / "x.mp4", **SETTINGS)
    for output in (3, object(), b"x.mp4"):
        with pytest.raises(TypeError, match="is no path, no file object"):
            motus.encode(rgb, output, **SETTINGS)


def test_a_folder(rgb, tmp_path):
    (tmp_path / "x.mp4").mkdir()
    with pytest.raises(IsADirectoryError):
        motus.encode(rgb, tmp_path / "x.mp4", **SETTINGS)


def test_a_file_that_another_job_writes(rgb, tmp_path):
    """Jobs of the program and of this package know each other by their locks."""
    path = tmp_path / "x.mp4"
    part = tmp_path / "x.mp4.motus-0123456789ab.part"
    with open(part, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another job is writing"):
            motus.encode(rgb, path, **SETTINGS)
    motus.encode(rgb, path, **SETTINGS)  # a dead job's file does not matter
    assert sorted(os.listdir(tmp_path)) == ["x.mp4", part.name]

    def slow():
        for frame in rgb:
            with pytest.raises(OSError, match="another job is writing"):
                motus.encode(rgb, path, **SETTINGS)
            yield frame

    motus.encode(slow(), path, **SETTINGS)


def test_the_program_sees_the_lock(program, rgb, tmp_path):
    source, path = tmp_path / "in.yuv", tmp_path / "x.264"
    source.write_bytes(bytes(48 * 32 * 3 // 2))
    said = []

    def frames():
        yield rgb[0]
        run = subprocess.run([program, "encode", str(source), "--size", "48x32", "--fps", "25",
                              "-o", str(path)], capture_output=True, text=True)
        said.append((run.returncode, run.stderr))

    motus.encode(frames(), path, **SETTINGS)
    assert said[0][0] != 0 and "another job is writing it" in said[0][1]


def test_an_older_file_stays_after_an_error(rgb, tmp_path):
    path = tmp_path / "x.mp4"
    path.write_bytes(b"old")
    with pytest.raises(motus.ArgumentError):
        motus.encode([rgb[0], rgb[0, :32]], path, **SETTINGS)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["x.mp4"]
