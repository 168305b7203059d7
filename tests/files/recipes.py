"""Files as people have them, each made by one or two ffmpeg commands. A recipe is (name, commands,
facts). In commands FILE is the file to make, base_* other files of the folder. facts hold what
probing cannot tell: "refused" is the line that motus refuses the file with, "told" what it says."""
# SPDX-License-Identifier: BSD-2-Clause

V = "-f lavfi -i testsrc2=s=96x64:r=25:d=1.2"
A = "-f lavfi -i sine=d=1.2"
X = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p"
BF = "-c:v libx264 -preset fast -bf 3 -g 12 -pix_fmt yuv420p"


def src(size="96x64", rate="25", seconds="1.2", more=""):
    return f"-f lavfi -i testsrc2=s={size}:r={rate}:d={seconds}{more}"


RECIPES = [
    ("plain.mp4", [f"{V} {X} FILE"]),
    ("bframes.mp4", [f"{V} {BF} FILE"]),
    ("bframes.mkv", [f"{V} {BF} FILE"]),
    ("opengop.mp4", [f"{V} {BF} -x264-params open-gop=1:b-pyramid=2 FILE"]),
    ("bframes.ts", [f"{V} {A} {BF} -c:a aac FILE"]),
    ("editlist.mp4", [f"{src(seconds='3')} {BF} base_edit.mp4",
                      "-ss 0.7 -i base_edit.mp4 -c copy FILE"]),
    ("editlist_audio.mp4", [f"{src(seconds='3')} -f lavfi -i sine=d=3 {BF} -c:a aac base_edita.mp4",
                            "-ss 0.7 -i base_edita.mp4 -c copy FILE"]),
    ("offset.mp4", [f"{V} {X} -output_ts_offset 1.5 FILE"]),
    ("offset.mkv", [f"{V} {A} {X} -c:a aac -output_ts_offset 1.5 FILE"]),
    ("vfr.mp4", [f"{V} -vf select='not(mod(n,3))+not(mod(n,7))' -fps_mode vfr {X} FILE"]),
    ("vfr.mkv", [f"{V} -vf select='not(mod(n,3))+not(mod(n,7))' -fps_mode vfr {X} FILE"]),
    ("vfr_bframes.mp4", [f"{V} -vf select='lt(mod(n,10),6)' -fps_mode vfr {BF} FILE"]),
    ("phone.mp4", [f"{src(rate='30', seconds='3')} "
                   "-vf settb=1/90000,setpts='N*3000+floor(450*random(1))' -fps_mode passthrough "
                   f"-enc_time_base 1/90000 -video_track_timescale 90000 {X} FILE"]),
    ("capture.mkv", [f"{src(rate='30', seconds='3')} "
                     "-vf settb=1/1000,setpts='floor(N*33.37+9*random(1))' -fps_mode passthrough "
                     f"-enc_time_base 1/1000 {X} FILE"]),
    ("screen.mp4", [f"{src(rate='60', seconds='2')} -vf select='lt(mod(n,17),5)' -fps_mode vfr "
                    f"-video_track_timescale 60000 {X} FILE"]),
    ("rate23976.mkv", [f"{src(rate='24000/1001')} {X} FILE"]),
    ("rate5994.mp4", [f"{src(rate='60000/1001')} {X} FILE"]),
    ("rate120.mp4", [f"{src(rate='120', seconds='0.5')} {X} FILE"]),
    ("rate15.flv", [f"{src(rate='15')} {X} -f flv FILE"]),
    ("slides.mp4", [f"{src(rate='1', seconds='5')} {X} FILE"]),
    ("rot90.mp4", [f"{V} {X} base_rot.mp4", "ROTATE90 base_rot.mp4 FILE"]),
    ("rot180.mp4", ["ROTATE180 base_rot.mp4 FILE"]),
    ("rot270.mov", [f"{V} {A} {X} -c:a aac base_rota.mov", "ROTATE270 base_rota.mov FILE"]),
    ("aac.mp4", [f"{V} {A} {X} -c:a aac FILE"]),
    ("mp3.mkv", [f"{V} {A} {X} -c:a libmp3lame FILE"]),
    ("two_audio.mkv", [f"{V} {A} {A} -map 0 -map 1 -map 2 {X} -c:a aac -metadata:s:a:0 "
                       "language=eng -metadata:s:a:1 language=deu FILE"]),
    ("opus.mkv", [f"{V} {A} {X} -c:a libopus FILE"]),
    ("opus.webm", [f"{V} {A} -c:v libvpx -deadline realtime -c:a libopus FILE"]),
    ("flac.mkv", [f"{V} {A} {X} -c:a flac FILE"]),
    ("vorbis.mkv", [f"{V} {A} {X} -c:a libvorbis FILE"]),
    ("pcm.mov", [f"{V} {A} {X} -c:a pcm_s16le FILE"]),
    ("ac3.ts", [f"{V} {A} {X} -c:a ac3 FILE"]),
    ("long_audio.mp4", [f"{V} -f lavfi -i sine=d=2.5 {X} -c:a aac FILE"]),
    ("late_audio.mp4", [f"{V} -itsoffset 0.5 {A} {X} -c:a aac FILE"]),
    ("late_video.mkv", [f"-itsoffset 0.4 {V} {A} {X} -c:a aac FILE"]),
    ("subs.mkv", ["SUBTITLES subs.srt", f"{V} {A} -i subs.srt -map 0 -map 1 -map 2 {X} -c:a aac "
                  "-c:s subrip -metadata:s:s language=fra FILE"]),
    ("subs.mp4", [f"{V} {A} -i subs.srt -map 0 -map 1 -map 2 {X} -c:a aac -c:s mov_text FILE"]),
    ("attachment.mkv", [f"{V} -i subs.srt -map 0 -map 1 {X} -c:s ass -attach subs.srt "
                        "-metadata:s:t mimetype=text/plain FILE"]),
    ("chapters.mkv", ["CHAPTERS chapters.txt",
                      f"{V} {A} -i chapters.txt -map_metadata 2 {X} -c:a aac FILE"]),
    ("titled.mp4", [f"{V} {A} {X} -c:a aac -metadata title=Name -metadata "
                    "creation_time=2020-02-02T02:02:02Z FILE"]),
    ("timecode.mov", [f"{V} {X} -timecode 01:00:00:00 FILE"]),
    ("ten_bit.mkv", [f"{V} -c:v libx264 -preset ultrafast -pix_fmt yuv420p10le FILE"]),
    ("hdr.mp4", [f"{V} -c:v libx265 -x265-params log-level=none:colorprim=bt2020:"
                 "transfer=smpte2084:colormatrix=bt2020nc -pix_fmt yuv420p10le -color_primaries "
                 "bt2020 -color_trc smpte2084 -colorspace bt2020nc -tag:v hvc1 FILE"]),
    ("c444.mp4", [f"{V} -c:v libx264 -preset ultrafast -pix_fmt yuv444p FILE"]),
    ("c422.mov", [f"{V} -c:v prores_ks -pix_fmt yuv422p10le FILE"]),
    ("c444_12.mkv", [f"{V} -c:v ffv1 -pix_fmt yuv444p12le FILE"]),
    ("c411.avi", [f"{src(size='720x480', rate='30000/1001', seconds='0.4')} -c:v dvvideo -pix_fmt "
                  "yuv411p -aspect 4:3 FILE"]),
    ("rgb.avi", [f"{V} -c:v huffyuv -pix_fmt rgb24 FILE"]),
    ("rgb.mkv", [f"{V} -c:v ffv1 -pix_fmt bgr0 FILE"]),
    ("gray.mkv", [f"{V} -c:v ffv1 -pix_fmt gray FILE"]),
    ("alpha4444.mov", [f"{V} -vf format=yuva444p,geq=lum='lum(X,Y)':a='X*2' -c:v prores_ks "
                       "-pix_fmt yuva444p10le FILE"], {"told": r"over black"}),
    ("alpha_rle.mov", [f"{V} -vf format=argb,colorchannelmixer=aa=0.5 -c:v qtrle FILE"],
     {"told": r"over black"}),
    ("alpha%02d.png", [f"{src(seconds='0.4')} -vf format=rgba,colorchannelmixer=aa=0.5 FILE"],
     {"told": r"over black"}),
    ("alpha.webm", [f"{V} -vf format=yuva420p -c:v libvpx -deadline realtime -auto-alt-ref 0 FILE"],
     {"told": r"transparency is left out"}),
    ("opaque4444.mov", [f"{V} -c:v prores_ks -pix_fmt yuva444p10le FILE"]),
    ("delays.gif", [f"{src(rate='10')} -vf select='lt(mod(n,5),2)' -fps_mode vfr FILE"]),
    ("interlaced.ts", [f"{src(size='96x64', rate='50')} -vf tinterlace=interleave_top -c:v "
                       "mpeg2video -flags +ilme+ildct -q:v 2 FILE"]),
    ("interlaced.mp4", [f"{src(rate='50')} -vf tinterlace=interleave_top,fieldorder=tff -c:v "
                        "libx264 -preset ultrafast -pix_fmt yuv420p -flags +ilme+ildct FILE"]),
    ("interlaced.mov", [f"{src(rate='50')} -vf tinterlace=interleave_top -c:v prores_ks -flags "
                        "+ilme+ildct FILE"]),
    ("interlaced.y4m", [f"{src(rate='50', seconds='0.8')} -vf tinterlace=interleave_top,"
                        "setfield=tff -pix_fmt yuv420p -flags +ilme FILE"]),
    ("odd444.mkv", [f"{src(size='95x63')} -c:v ffv1 -pix_fmt yuv444p FILE"]),
    ("odd422.mkv", [f"{src(size='95x63')} -c:v ffv1 -pix_fmt yuv422p FILE"]),
    ("odd420.mkv", [f"{src(size='95x63')} -c:v ffv1 -pix_fmt yuv420p FILE"]),
    ("odd%02d.png", [f"{src(size='95x63', seconds='0.4')} FILE"]),
    ("full.avi", [f"{V} -c:v mjpeg -pix_fmt yuvj420p FILE"]),
    ("full.mp4", [f"{V} -vf scale=out_range=full {X} -color_range pc FILE"]),
    ("bt709.mp4", [f"{V} {X} -color_primaries bt709 -color_trc bt709 -colorspace bt709 "
                   "-color_range tv FILE"]),
    ("smpte170m.mkv", [f"{V} {X} -color_primaries smpte170m -color_trc smpte170m -colorspace "
                       "smpte170m FILE"]),
    ("sar.mp4", [f"{V} -vf setsar=16/11 {X} FILE"]),
    ("sar.mpg", [f"{V} {A} -vf setsar=1 -aspect 16:9 -c:v mpeg2video -c:a mp2 FILE"]),
    ("cut.mkv", [f"{V} {A} {X} -g 5 -c:a aac base_cut.mkv", "CUT 0.6 base_cut.mkv FILE"],
     {"told": r"is cut: it ends at"}),
    ("cut_video.mkv", [f"{V} {X} -g 5 base_cutv.mkv", "CUT 0.8 base_cutv.mkv FILE"],
     {"told": r"is cut: it ends at"}),
    ("cut.ts", [f"{V} {A} {X} -g 5 -c:a aac base_cut.ts", "CUT 0.6 base_cut.ts FILE"],
     {"told": r"ends inside a packet of the transport"}),
    ("cut.mp4", [f"{V} {A} {X} -g 5 -c:a aac -movflags faststart base_cut.mp4",
                 "CUT 0.6 base_cut.mp4 FILE"], {"told": r"ends inside a picture"}),
    ("cut.avi", [f"{V} -c:v mpeg4 -q:v 2 base_cut.avi", "CUT 0.6 base_cut.avi FILE"],
     {"told": r"ends inside a picture"}),
    ("cut_index.mp4", [f"{V} {X} base_cuti.mp4", "CUT 0.6 base_cuti.mp4 FILE"],
     {"refused": "moov atom not found|Invalid data"}),
    ("damaged.ts", ["DAMAGE base_cut.ts FILE"], {"told": r"damaged: .* repaired"}),
    ("damaged.mkv", ["DAMAGE base_cutv.mkv FILE"], {"told": r"damaged: .* repaired"}),
    ("damaged.avi", ["DAMAGE base_cut.avi FILE"], {"told": r"damaged: .* repaired"}),
    ("damaged.mp4", ["DAMAGE base_cut.mp4 FILE"], {"told": r"damaged: .* repaired"}),
    ("hole.ts", ["HOLE base_cut.ts FILE"], {"told": r"pictures are missing: 5"}),
    ("hole.mkv", ["HOLE base_cutv.mkv FILE"], {"told": r"pictures are missing: 9"}),
    ("hole.m3u8", [f"{src(seconds='8')} {A} {X} -g 25 -c:a aac -f hls -hls_time 1 -hls_list_size "
                   "0 FILE", "REMOVE hole3.ts"], {"told": r"Failed to open segment 3"}),
    ("listed.m3u8", [f"{V} {A} {X} -g 5 -c:a aac -f hls -hls_time 0.2 -hls_list_size 0 FILE"]),
    ("day.ts", [f"{V} {A} {X} -c:a aac -output_ts_offset 80000 FILE"],
     {"told": r"clock says 8000\d\."}),
    ("negative.mkv", [f"{V} {A} {X} -c:a aac -output_ts_offset -0.7 -avoid_negative_ts "
                      "disabled FILE"], {"told": r"clock says -0\.[67]"}),
    ("cover.mp3", [f"{src(seconds='0.04')} -frames:v 1 base_cover.png", f"{A} -i base_cover.png "
                   "-map 0 -map 1 -c:a libmp3lame -c:v copy -id3v2_version 3 FILE"],
     {"told": r"its only video is a cover picture"}),
    ("cover.m4a", [f"{A} -i base_cover.png -map 0 -map 1 -c:a aac -c:v copy -disposition:v "
                   "attached_pic FILE"], {"told": r"its only video is a cover picture"}),
    ("song.m4a", [f"{A} -c:a aac FILE"], {"refused": "has no video"}),
    ("song.wav", [f"{A} FILE"], {"refused": "has no video"}),
    ("still.png", [f"{src(seconds='0.04')} -frames:v 1 FILE"]),
    ("series%03d.jpg", [f"{src(rate='10', seconds='0.8')} -q:v 2 FILE"]),
    ("vp9.webm", [f"{V} -c:v libvpx-vp9 -deadline realtime -cpu-used 8 FILE"]),
    ("mpeg4.avi", [f"{V} {A} -c:v mpeg4 -bf 2 -c:a libmp3lame FILE"]),
    ("wmv.wmv", [f"{V} {A} -c:v wmv2 -c:a wmav2 FILE"]),
    ("theora.ogv", [f"{V} {A} -c:v libtheora -c:a libvorbis FILE"]),
    ("vob.vob", [f"{V} {A} -c:v mpeg2video -bf 2 -c:a ac3 -f vob FILE"]),
    ("stream.h264", [f"{V} {X} FILE"]),
    ("stream_b.h264", [f"{V} {BF} FILE"]),
    ("fragmented.mp4", [f"{V} {A} {X} -c:a aac -movflags frag_keyframe+empty_moov FILE"]),
    ("resized.ts", [f"{V} {X} base_a.ts", f"{src(size='128x96')} {X} base_b.ts",
                    "JOIN base_a.ts base_b.ts FILE"], {"told": r"size changes to 128x96"}),
    ("two_videos.mkv", [f"{V} {src(size='64x48')} {A} -map 0 -map 1 -map 2 {X} -c:a aac FILE"],
     {"told": r"left out.*video h264"}),
    ("raw.nut", [f"{V} {A} -c:v rawvideo -pix_fmt yuv420p -c:a pcm_s16le FILE"]),
    ("hevc.mkv", [f"{V} -c:v libx265 -x265-params log-level=none:bframes=3 FILE"]),
    ("progressive.y4m", [f"{V} -pix_fmt yuv420p FILE"]),
]
