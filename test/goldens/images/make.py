"""Makes the image fixtures and what Pillow reads from them.

    python make.py            (Pillow >= 12 with WebP and AVIF)

`expected.json` holds, for every readable fixture: its upright width and height, the tolerance, and where its pixels
start in `expected.bin`. Pixels are RGB, composited over `background` as `Image.paste(image, mask=alpha)` does.
"""
import io
import json
import random
import struct
import zlib
from pathlib import Path

from PIL import Image, ImageCms, ImageFilter, ImageOps

HERE = Path(__file__).parent
W, H = 33, 17
expected = {}
raw = bytearray()


def picture(width=W, height=H):
    """Smooth and asymmetrical: no rotation or flip of it equals another."""
    image = Image.new("RGB", (width, height))
    image.putdata([((x * 255) // (width - 1), (y * 255) // (height - 1), (x * y * 5 + 40) % 256 if x > y else 40) for y in range(height) for x in range(width)])
    return image


def smooth(width=W, height=H):
    image = Image.new("RGB", (width, height))
    image.putdata([((x * 200) // (width - 1) + 20, (y * 200) // (height - 1) + 20, 200 - (x * 90) // (width - 1) - (y * 60) // (height - 1)) for y in range(height) for x in range(width)])
    return image


def over(image, background=(255, 255, 255)):
    rgba = image.convert("RGBA")
    canvas = Image.new("RGB", image.size, background)
    canvas.paste(rgba, mask=rgba.getchannel("A"))
    return canvas


def golden(name, tolerance=0, background=(255, 255, 255), exif=True, key=None):
    """What Pillow reads from `name`."""
    with Image.open(HERE / name) as image:
        image.load()
        upright = ImageOps.exif_transpose(image) if exif else image
        pixels = over(upright, background)
    key = key or name
    expected[key] = {"file": name, "width": pixels.width, "height": pixels.height, "tolerance": tolerance, "background": background, "exif": exif, "offset": len(raw)}
    raw.extend(pixels.tobytes())


def save(name, image, **options):
    image.save(HERE / name, **options)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_16bit():
    """16 bits a sample, RGB: the high byte is what 8-bit readers keep."""
    rows = b"".join(b"\0" + b"".join(struct.pack(">HHH", x * 1985 % 65536, y * 3855 % 65536, (x * y * 977) % 65536) for x in range(W)) for y in range(H))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 16, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def bomb():
    """A PNG whose header claims 60000 x 60000, in 60 bytes."""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0" * 999)) + chunk(b"IEND", b"")


def exif(orientation, order="<"):
    """A minimal EXIF block: one IFD, one entry."""
    mark = b"II" if order == "<" else b"MM"
    return b"Exif\0\0" + mark + struct.pack(order + "HIHHHIHHI", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0)


# Lossless, with alpha: every alpha against many colors.
alpha = Image.new("RGBA", (32, 32))
randomness = random.Random(7)
alpha.putdata([(randomness.randrange(256), randomness.randrange(256), randomness.randrange(256), (x * 8 + y) % 256) for y in range(32) for x in range(32)])
save("alpha.png", alpha)
golden("alpha.png")
golden("alpha.png", background=(10, 200, 77), key="alpha.png on green")
save("alpha.webp", alpha, lossless=True, exact=True)
golden("alpha.webp")

palette = picture().quantize(16)
save("palette.png", palette, transparency=bytes([0, 128, 255, 30] + [255] * 12))
golden("palette.png")
save("gray.png", picture().convert("L"))
golden("gray.png")
save("gray-alpha.png", alpha.convert("LA"))
golden("gray-alpha.png")
save("rgb.png", picture())
golden("rgb.png")
(HERE / "rgb16.png").write_bytes(png_16bit())
golden("rgb16.png")
save("one-bit.png", picture().convert("1"))
golden("one-bit.png")
save("rgb.bmp", picture())
golden("rgb.bmp")
save("rgb.webp", picture(), lossless=True, exact=True)
golden("rgb.webp")
frames = [picture().quantize(32), ImageOps.flip(picture()).quantize(32)]
save("animated.gif", frames[0], save_all=True, append_images=frames[1:], duration=100, loop=0)
golden("animated.gif")

# Color profiles and gamma are ignored, as Pillow ignores them.
profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
profile[24:36] = bytes(12)  # the time of its making
profile = bytes(profile.replace(b"rXYZ", b"tmp_").replace(b"gXYZ", b"rXYZ").replace(b"tmp_", b"gXYZ"))  # red and green change places
save("profile.png", picture(), icc_profile=profile)
golden("profile.png")
save("profile.jpg", smooth(), quality=90, subsampling=2, icc_profile=profile)
golden("profile.jpg")
plain = (HERE / "rgb.png").read_bytes()
(HERE / "gamma.png").write_bytes(plain[:33] + chunk(b"gAMA", struct.pack(">I", 100000)) + plain[33:])
golden("gamma.png")

# Lossy. Colored noise, so that chroma upsampling shows.
noisy = Image.new("RGB", (W, H))
noisy.putdata([tuple(randomness.randrange(256) for _ in range(3)) for _ in range(W * H)])
noisy = noisy.filter(ImageFilter.GaussianBlur(1))
for name, options in {
    "444.jpg": dict(subsampling=0),
    "420.jpg": dict(subsampling=2),
    "422.jpg": dict(subsampling=1),
    "progressive.jpg": dict(subsampling=2, progressive=True),
}.items():
    save(name, noisy, quality=90, **options)
    golden(name)
for width, height in [(1, 1), (2, 3), (4, 4), (5, 5), (6, 1), (16, 2)]:
    save(f"420-{width}x{height}.jpg", noisy.crop((0, 0, width, height)), quality=90, subsampling=2)
    golden(f"420-{width}x{height}.jpg")
    save(f"lossy-{width}x{height}.webp", noisy.crop((0, 0, width, height)), quality=90)
    golden(f"lossy-{width}x{height}.webp")
save("gray.jpg", smooth().convert("L"), quality=90)
golden("gray.jpg")
save("cmyk.jpg", smooth().convert("CMYK"), quality=95)
golden("cmyk.jpg")
save("rgb.jpg", noisy, quality=90, keep_rgb=True)
golden("rgb.jpg")
save("lossy.webp", noisy, quality=90)
golden("lossy.webp")
save("lossy-alpha.webp", alpha, quality=90)
golden("lossy-alpha.webp")
save("lossy.avif", smooth(), quality=90, subsampling="4:2:0")
golden("lossy.avif", 4)

# The eight orientations of the same coded pixels, 4:2:0 so that odd offsets matter too.
for orientation in range(1, 9):
    save(f"exif-{orientation}.jpg", noisy, quality=90, subsampling=2, exif=exif(orientation, "<" if orientation % 2 else ">"))
    golden(f"exif-{orientation}.jpg")
save("exif-6.png", picture(), exif=exif(6)[6:])
golden("exif-6.png")
save("exif-6.webp", picture(), lossless=True, exact=True, exif=exif(6)[6:])
golden("exif-6.webp")
save("exif-8-alpha.png", alpha, exif=exif(8)[6:])
golden("exif-8-alpha.png")
golden("exif-6.jpg", exif=False, key="exif-6.jpg as coded")

# Made by other programs: an APNG whose default image is no frame of it, and AVIFs that their container turns.
for name in ["hidden.png", "irot1.avif", "irot3.avif"]:
    golden(name, 4 if name.endswith("avif") else 0)

# Zeros in place of the marker EOI, as some cameras write them.
(HERE / "no-eoi.jpg").write_bytes((HERE / "420.jpg").read_bytes()[:-2] + bytes(600))
golden("no-eoi.jpg")

# Not images, or no longer.
(HERE / "empty.jpg").write_bytes(b"")
(HERE / "text.jpg").write_text("This is a text file, whatever its name says.\n")
(HERE / "garbage.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(randomness.randrange(256) for _ in range(300)))
(HERE / "garbage.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(randomness.randrange(256) for _ in range(300)))
(HERE / "bomb.png").write_bytes(bomb())
for name, kept in {"rgb.png": 0.6, "420.jpg": 0.8, "progressive.jpg": 0.8, "rgb.webp": 0.6, "animated.gif": 0.3, "rgb.bmp": 0.6}.items():
    whole = (HERE / name).read_bytes()
    (HERE / f"truncated-{name}").write_bytes(whole[: int(len(whole) * kept)])
(HERE / "header-only.jpg").write_bytes((HERE / "420.jpg").read_bytes()[:200])
(HERE / "drawing.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="4"><rect width="8" height="4" fill="red"/></svg>\n')

(HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
(HERE / "expected.bin").write_bytes(raw)
print(sum(f.stat().st_size for f in HERE.iterdir()), "bytes,", len(expected), "goldens")
