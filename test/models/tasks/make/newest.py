"""Rows of classes that transformers 4.57 does not have: `python test/models/tasks/make.py newest`, with transformers 5.24."""
import bare_images
import bare_texts
import fill_mask
import halves
import newest_detectors
import newest_instances
import newest_sams
import published_gte
import text_classifier
import text_generator
import token_classifier

from common import answers


def make():
    for one in (fill_mask, text_classifier, token_classifier):
        answers(one.__name__, one.family_rows())
    rows = [*bare_texts.bare_rows()]
    answers("text_feature_extractor", rows)
    answers("text_feature_extractor", bare_texts.writer_rows({one["architecture"] for one in rows}))
    answers("image_feature_extractor", bare_images.newest_rows())
    published_gte.make_rows()
    text_generator.make()
    halves.make()
    answers("object_detector", newest_detectors.newest_rows())
    answers("instance_segmenter", newest_instances.newest_rows())
    answers("promptable_segmenter", newest_sams.newest_rows())
