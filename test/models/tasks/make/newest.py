"""Rows of classes that transformers 4.57 does not have: `python test/models/tasks/make.py newest`, with transformers 5.18."""
import bare_texts
import fill_mask
import newest_detectors
import newest_instances
import newest_sams
import question_answerer
import text_classifier
import text_generator
import token_classifier

from common import answers


def make():
    for one in (fill_mask, question_answerer, text_classifier, token_classifier):
        answers(one.__name__, one.family_rows())
    answers("text_feature_extractor", bare_texts.bare_rows())
    text_generator.make()
    answers("object_detector", newest_detectors.newest_rows())
    answers("instance_segmenter", newest_instances.newest_rows())
    answers("promptable_segmenter", newest_sams.newest_rows())
