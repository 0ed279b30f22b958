"""Draws the sample photos of public/models/ocr: texts in Debian's fonts on textures, with perspective, shadow, noise and rotation.

    pip install numpy pillow; apt-get install fonts-liberation fonts-dejavu fonts-droid-fallback
    python training/ocr_samples.py

The seeds are fixed, so with the same Pillow and fonts the pictures are the same.
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

HERE = Path(__file__).parent.parent / 'public/models/ocr/samples'
FONTS = Path('/usr/share/fonts/truetype')
SANS = FONTS / 'liberation/LiberationSans-Regular.ttf'
BOLD = FONTS / 'liberation/LiberationSans-Bold.ttf'
SERIF = FONTS / 'liberation/LiberationSerif-Regular.ttf'
MONO = FONTS / 'liberation/LiberationMono-Regular.ttf'
MONO_BOLD = FONTS / 'liberation/LiberationMono-Bold.ttf'
NARROW = FONTS / 'liberation/LiberationSansNarrow-Bold.ttf'
CHINESE = FONTS / 'droid/DroidSansFallbackFull.ttf'


def paper(width, height, color, ink, lines, margin=28):
    """A card with lines of text: (text, font, size)."""
    card = Image.new('RGB', (width, height), color)
    draw = ImageDraw.Draw(card)
    y = margin
    for text, font, size in lines:
        write(draw, margin, y, text, font, size, ink)
        y += round(size * 1.55)
    return card


def write(draw, x, y, text, font, size, ink):
    """Writes a line. The Chinese typeface has no Latin letters and digits: they are another's."""
    for character in text:
        own = font if font != CHINESE or ord(character) > 0x2E80 else SANS
        face = ImageFont.truetype(str(own), size)
        draw.text((x, y), character, font=face, fill=ink)
        x += face.getlength(character)


def texture(width, height, base, rng, grain=14):
    """A surface: soft blotches and grain."""
    low = rng.normal(0, 1, (height // 24 + 2, width // 24 + 2, 1))
    soft = np.asarray(Image.fromarray(np.uint8(np.clip(128 + 40 * low[..., 0], 0, 255))).resize((width, height), Image.BICUBIC), np.float64)
    pixels = np.array(base, np.float64) + (soft[..., None] - 128) * 0.35 + rng.normal(0, grain, (height, width, 1))
    return Image.fromarray(np.uint8(np.clip(pixels, 0, 255)))


def homography(source, target):
    """The eight numbers of Pillow's PERSPECTIVE: from the target's points to the source's."""
    rows = []
    for (x, y), (u, v) in zip(target, source):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    return np.linalg.solve(np.array(rows, float), np.array(source, float).reshape(8))


def place(scene, card, corners):
    """Lays a card into a scene, its corners (clockwise from the top left) at these points, with a soft shadow."""
    width, height = card.size
    coefficients = homography([(0, 0), (width, 0), (width, height), (0, height)], corners)
    warped = card.transform(scene.size, Image.PERSPECTIVE, coefficients, Image.BICUBIC)
    mask = Image.new('L', card.size, 255).transform(scene.size, Image.PERSPECTIVE, coefficients, Image.BILINEAR)
    shadow = mask.filter(ImageFilter.GaussianBlur(9)).transform(scene.size, Image.AFFINE, (1, 0, -7, 0, 1, -9))
    scene = Image.composite(Image.new('RGB', scene.size, (15, 12, 10)), scene, shadow.point(lambda value: value // 2))
    return Image.composite(warped, scene, mask)


def shade(scene, rng, slope=(0.35, 0.2), noise=5.0, blur=0.6):
    """Light that falls off to one side, blur, and the noise of a sensor."""
    width, height = scene.size
    y, x = np.mgrid[0:height, 0:width]
    light = 1.06 - slope[0] * x / width - slope[1] * y / height
    pixels = np.asarray(scene.filter(ImageFilter.GaussianBlur(blur)), np.float64) * light[..., None]
    return Image.fromarray(np.uint8(np.clip(pixels + rng.normal(0, noise, pixels.shape), 0, 255)))


def receipt():
    """In a monospaced typeface, as a till prints it: the recognizer reads a space as narrow as in others only now and then."""
    rng = np.random.default_rng(1)
    columns = 25
    row = lambda left, right: left + right.rjust(columns - len(left))
    lines = [
        ('CORNER BAKERY', MONO_BOLD, 40),
        ('14 Mill Lane', MONO, 30),
        (row('2026-11-22', '09:41'), MONO, 30),
        (row('2 x Croissant', '4.80'), MONO, 30),
        (row('1 x Rye bread', '3.95'), MONO, 30),
        (row('1 x Flat white', '3.40'), MONO, 30),
        (row('TOTAL', '12.15'), MONO_BOLD, 30),
        ('Thank you for your visit!', MONO, 30),
    ]
    card = paper(506, 446, (246, 243, 235), (38, 36, 40), lines)
    scene = place(texture(936, 832, (120, 84, 58), rng), card, [(159, 81), (770, 120), (819, 764), (109, 723)])
    shade(scene, rng).save(HERE / 'receipt.jpg', quality=70)


def sign():
    rng = np.random.default_rng(2)
    board = paper(620, 260, (18, 70, 150), (250, 250, 250), [('Platform 9', BOLD, 84), ('Trains to Cambridge', SANS, 52)])
    ImageDraw.Draw(board).rectangle([8, 8, 611, 251], outline=(250, 250, 250), width=5)
    scene = place(texture(800, 520, (150, 146, 138), rng), board, [(90, 150), (700, 96), (724, 366), (104, 400)])
    shade(scene, rng, slope=(-0.1, 0.45), noise=7).save(HERE / 'sign.webp', quality=78)


def letter():
    """A page that was photographed upside down."""
    rng = np.random.default_rng(3)
    lines = [
        ('Dear neighbours,', SERIF, 30),
        ('the water will be turned off on', SERIF, 27),
        ('Tuesday from 8:30 to 11:00 am.', SERIF, 27),
        ('Please keep some in a bucket.', SERIF, 27),
        ('Questions? Call 555-0142.', BOLD, 25),
    ]
    card = paper(500, 300, (250, 250, 246), (30, 30, 60), lines, 34)
    scene = place(texture(640, 420, (62, 88, 70), rng, 3), card, [(70, 54), (566, 66), (574, 362), (62, 348)])
    shade(scene, rng, noise=1).transpose(Image.ROTATE_180).save(HERE / 'letter-upside-down.png')


def label():
    rng = np.random.default_rng(4)
    lines = [
        ('龙井绿茶', CHINESE, 64),
        ('净含量 250克', CHINESE, 36),
        ('保质期 18个月', CHINESE, 36),
        ('Green Tea  No. 8866', BOLD, 34),
        ('产地 浙江杭州', CHINESE, 36),
    ]
    card = paper(480, 390, (226, 236, 206), (20, 60, 34), lines)
    scene = place(texture(640, 560, (176, 150, 116), rng), card, [(92, 100), (548, 66), (566, 470), (76, 486)])
    shade(scene, rng).save(HERE / 'tea.jpg', quality=84)


def ticket():
    """Turned by some degrees, with small print, and a line that runs downwards."""
    rng = np.random.default_rng(5)
    card = paper(640, 270, (248, 226, 178), (60, 20, 20), [
        ('CITY MUSEUM', NARROW, 60),
        ('Admit one adult · 22 Nov 2026', SANS, 32),
        ('Not valid after 18:00. Keep this ticket for re-entry.', SANS, 19),
        ('No. 0047213', MONO, 32),
    ])
    side = Image.new('RGB', (180, 46), (248, 226, 178))
    ImageDraw.Draw(side).text((8, 4), 'GATE B12', font=ImageFont.truetype(str(BOLD), 34), fill=(160, 30, 30))
    card.paste(side.transpose(Image.ROTATE_270), (584, 40))
    scene = texture(860, 560, (86, 92, 104), rng)
    angle = np.deg2rad(-9)
    turn = lambda x, y: (430 + x * np.cos(angle) - y * np.sin(angle), 280 + x * np.sin(angle) + y * np.cos(angle))
    scene = place(scene, card, [turn(-345, -146), turn(345, -146), turn(345, 146), turn(-345, 146)])
    shade(scene, rng, noise=8).save(HERE / 'ticket.jpg', quality=84)


def notice():
    """Larger than what the detector gets, so that it is scaled down."""
    rng = np.random.default_rng(6)
    left = paper(660, 520, (252, 252, 252), (22, 22, 22), [
        ('Opening hours', BOLD, 64), ('Mon - Fri   7:30 - 19:00', SANS, 44), ('Saturday    9:00 - 16:00', SANS, 44), ('Sunday      closed', SANS, 44), ('营业时间 9:00', CHINESE, 46),
    ], 40)
    right = paper(420, 250, (210, 44, 36), (255, 255, 255), [('SALE', BOLD, 92), ('up to 50% off', SANS, 44)])
    scene = texture(1400, 900, (196, 188, 170), rng, 9)
    scene = place(scene, left, [(80, 150), (760, 110), (776, 690), (64, 702)])
    scene = place(scene, right, [(868, 420), (1300, 452), (1288, 720), (858, 672)])
    shade(scene, rng, blur=0.9).save(HERE / 'notice.jpg', quality=76)


for draw in (receipt, sign, letter, label, ticket, notice):
    draw()
