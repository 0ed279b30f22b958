"""Who speaks when: random models of the shape of pyannote's segmentation-3.0 and of WeSpeaker, and what the rules of pyannote's pipeline make of them, by numpy and scipy.

The rules are those of `SpeakerDiarization` (3.1: `AgglomerativeClustering`, centroid linkage), with these differences: the
vector of a voice is made of its samples, one after another, as in sherpa-onnx; who is too short for a vector is left out;
nobody speaks without a window in which he does; speakers are numbered by their first windows, named by their first turns,
and turns end with the recording.
"""
import itertools
import json
import pathlib
import shutil
import tempfile

import numpy as np
import onnx
import torch
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from basics import HERE, RATE, sound
from common import answers, spread, strip
from seeded import store
from speaker_embedder import Voice, features_of, write, write_voice

WINDOW, STEP, OFFSET, SPEAKERS = 10 * RATE, 270, 721, 3
CLASSES = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
FRAMES = (WINDOW - OFFSET) // STEP
# Of a recording that is shorter than a window, of one that fills windows, and of one that does not.
LENGTHS = [56_000, 10 * RATE + 8 * RATE, 407_000]
# Between the two likeliest classes of a frame, and between distances and a threshold; with less, float32 decides.
MIN_GAP = 3e-5


class Segmentation(torch.nn.Module):
    """The log probabilities of who speaks, which change slowly."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv1d(1, 6, OFFSET + STEP, stride=STEP)
        self.second = torch.nn.Conv1d(6, 6, 5, padding=2)
        self.smooth = torch.nn.AvgPool1d(61, stride=1, padding=30, count_include_pad=False)
        self.classes = torch.nn.Conv1d(6, len(CLASSES), 1)

    def forward(self, samples):
        hidden = torch.tanh(self.first(samples))
        hidden = self.smooth(self.smooth(torch.tanh(self.second(hidden))))
        hidden = (hidden - hidden.mean(-1, keepdim=True)) * 40
        return torch.log_softmax(self.classes(torch.tanh(hidden)).transpose(1, 2) * 4, -1)


def windows_of(samples, step):
    """The windows: the last one is padded."""
    count = 1 + max(0, -(-(len(samples) - WINDOW) // step))
    padded = np.pad(samples, (0, max(0, (count - 1) * step + WINDOW - len(samples))))
    return [padded[at * step:at * step + WINDOW] for at in range(count)]


def segment(model, samples, step):
    """Who speaks in each window, `[windows, frames, speakers]`, and with which probability; and how clear it is."""
    active, chances, gaps = [], [], []
    for window in windows_of(samples, step):
        with torch.no_grad():
            scores = model(torch.tensor(window)[None, None])[0].exp().numpy()
        assert len(scores) == FRAMES, len(scores)
        mapping = np.array([[speaker in members for speaker in range(SPEAKERS)] for members in CLASSES], float)
        active.append(mapping[scores.argmax(-1)])
        chances.append(scores @ mapping)
        ordered = np.sort(scores, -1)
        gaps.append(float((ordered[:, -1] - ordered[:, -2]).min()))
    return np.array(active), np.array(chances), min(gaps)


def voices(embed, samples, active, step):
    """The vectors of those who speak, `{ (window, speaker): vector }`; None for who is too short. @param embed returns the vector of samples"""
    found = {}
    for window in range(len(active)):
        for speaker in range(SPEAKERS):
            own = active[window, :, speaker] == 1
            if not own.any():
                continue
            alone = own & (active[window].sum(-1) == 1)
            vector = None
            for mask in (alone, own):
                edges = window * step + (np.arange(FRAMES + 1) * WINDOW) // FRAMES
                parts = [samples[edges[at]:edges[at + 1]] for at in np.flatnonzero(mask)]
                voice = np.concatenate(parts) if parts else np.zeros(0, np.float32)
                if len(voice) >= 400 + 8 * 160:
                    vector = embed(voice).astype(np.float64)
                    break
            found[window, speaker] = vector
    return found


def cluster(vectors, threshold, least=None, most=None):
    """pyannote's `AgglomerativeClustering`, and its `assign_embeddings`. Returns the clusters and the smallest gap of a decision."""
    count = len(vectors)
    least, most = max(1, min(count, least or 1)), max(1, min(count, most or count))
    if most < 2:
        return np.zeros(count, int), 1.0
    smallest = min(12, max(1, round(0.1 * count)))
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    tree = linkage(unit, method="centroid", metric="euclidean")
    gap = float(np.abs(tree[:, 2] - threshold).min())
    large = lambda clusters: [one for one, size in zip(*np.unique(clusters, return_counts=True)) if size >= smallest]
    clusters = fcluster(tree, threshold, criterion="distance") - 1
    found = len(large(clusters))
    wanted = least if found < least else most if found > most else found
    if found != wanted:
        steps = tree.copy()
        steps[:, 2] = np.arange(count - 1)
        best, best_count = count - 1, 1
        for last in np.argsort(np.abs(tree[:, 2] - threshold)):
            if steps[last, 3] < smallest:
                continue
            found = len(large(fcluster(steps, last, criterion="distance")))
            if abs(found - wanted) < abs(best_count - wanted) or found == wanted:
                best, best_count = last, found
            if found == wanted:
                break
        clusters = fcluster(steps, best, criterion="distance") - 1
    kept = large(clusters)
    small = [one for one in np.unique(clusters) if one not in kept]
    if not kept:
        clusters[:] = 0
    elif small:
        means = [np.array([unit[clusters == one].mean(0) for one in ones]) for ones in (kept, small)]
        homes = np.argmin(cdist(*means, metric="cosine"), axis=0)
        for one, home in zip(small, homes):
            clusters[clusters == one] = kept[home]
    _, clusters = np.unique(clusters, return_inverse=True)
    centroids = np.array([vectors[clusters == one].mean(0) for one in range(clusters.max() + 1)])
    distances = cdist(vectors, centroids, metric="cosine")
    if distances.shape[1] > 1:
        ordered = np.sort(distances, -1)
        gap = min(gap, float((ordered[:, 1] - ordered[:, 0]).min()))
    return distances.argmin(-1), gap


def by_overlap(active, step):
    """Who is the same in the frames that two windows share: the pairs with the most frames in which both speak. Returns also whether the pairs are the only best ones."""
    found, identities, following, is_clear = {}, {}, 0, True
    for window in range(len(active)):
        own = [speaker for speaker in range(SPEAKERS) if active[window, :, speaker].any()]
        shift = int(np.rint(window * step / STEP) - np.rint((window - 1) * step / STEP))
        old = list(identities)
        now = {}
        if old and own:
            shared = np.array([[(active[window - 1, shift:, one] * active[window, :FRAMES - shift, speaker]).sum() for one in old] for speaker in own])
            sums = sorted((sum(shared[row, column] for row, column in enumerate(one) if column < len(old)) for one in itertools.permutations(range(SPEAKERS), len(own))), reverse=True)
            is_clear = is_clear and (len(sums) < 2 or sums[0] > sums[1])
            for row, column in zip(*linear_sum_assignment(shared, maximize=True)):
                if shared[row, column] > 0:
                    now[own[row]] = identities[old[column]]
        for speaker in own:
            if speaker not in now:
                now[speaker], following = following, following + 1
            found[window, speaker] = now[speaker]
        identities = now
    return found, is_clear


def turns(active, chances, people, step, duration, on=0.0, off=0.0, most=99):
    """pyannote's `speaker_count`, `to_diarization` and `Binarize`. @param people `{ (window, speaker): person }`"""
    numbers = {person: number for number, person in enumerate(dict.fromkeys(people.values()))}
    total = int(np.rint((WINDOW + (len(active) - 1) * step) / STEP)) + 1
    counts, covered = np.zeros(total), np.zeros(total)
    votes, likely = np.zeros((total, len(numbers))), np.zeros((total, len(numbers)))
    for window in range(len(active)):
        start = int(np.rint(window * step / STEP))
        place = slice(start, start + FRAMES)
        counts[place] += active[window].sum(-1)
        covered[place] += 1
        for person, number in numbers.items():
            own = [speaker for speaker in range(SPEAKERS) if people.get((window, speaker)) == person]
            if own:
                votes[place, number] += active[window][:, own].max(-1)
                likely[place, number] += chances[window][:, own].max(-1)
    covered = np.maximum(covered, 1e-12)
    counts = np.minimum(np.rint(counts / covered), most).astype(int)
    likely /= covered[:, None]
    speaking = np.zeros_like(votes)
    for frame in range(total):
        for number in np.argsort(-votes[frame], kind="stable")[:counts[frame]]:
            speaking[frame, number] = votes[frame, number] > 0
    middle = lambda frame: (frame * STEP + (OFFSET + STEP) / 2) / RATE
    found = []
    for number in range(len(numbers)):
        runs, frame = [], 0
        while frame < total:
            if not speaking[frame, number]:
                frame += 1
                continue
            first = frame
            while frame < total and speaking[frame, number]:
                frame += 1
            last = min(frame, total - 1)
            if runs and middle(first) - middle(runs[-1][1]) < off:
                runs[-1] = [runs[-1][0], last, [*runs[-1][2], *likely[first:frame, number]]]
            else:
                runs.append([first, last, list(likely[first:frame, number])])
        for first, last, scores in runs:
            start, end = middle(first), min(middle(last), duration)
            if end > start and end - start >= on:
                found.append((start, end, number, float(np.mean(scores))))
    found.sort(key=lambda one: one[:2])
    names = {number: f"SPEAKER_{at:02d}" for at, number in enumerate(dict.fromkeys(one[2] for one in found))}
    return [{"speaker": names[number], "start": start, "end": end, "score": score} for start, end, number, score in found]


def answer(model, embedder, length, params):
    """Returns the answer of a model whose vectors `embedder` makes, and the smallest gap of a decision."""

    @torch.no_grad()
    def embed(voice):
        return embedder(features_of(voice, "wespeaker"))[0].numpy()

    return diarize(model, embedder and embed, sound(length), params)


def diarize(model, embed, samples, params):
    """Returns who speaks when, and the smallest gap of a decision."""
    step = round(params.get("windowStep", 0.1) * WINDOW)
    active, chances, gap = segment(model, samples, step)
    if not active.any():
        return [], gap
    if embed is None:
        people, is_clear = by_overlap(active, step)
        gap = gap if is_clear else 0
    else:
        given = voices(embed, samples, active, step)
        known = [key for key, vector in given.items() if vector is not None]
        count = params.get("numSpeakers")
        clusters, own = cluster(np.array([given[key] for key in known]), params.get("threshold", 0.7045654963945799), count or params.get("minSpeakers"), count or params.get("maxSpeakers"))
        people, gap = dict(zip(known, clusters.tolist())), min(gap, own)
    most = params.get("numSpeakers", params.get("maxSpeakers", 99))
    return turns(active, chances, people, step, len(samples) / RATE, params.get("minDurationOn", 0.0), params.get("minDurationOff", 0.0), most), gap


def write_segmentation(model, folder, file, names):
    shutil.rmtree(folder, ignore_errors=True)
    (folder / file).parent.mkdir(parents=True)
    given, made = names
    with tempfile.TemporaryDirectory() as target:
        whole = pathlib.Path(target) / "model.onnx"
        torch.onnx.export(model, torch.tensor(sound(WINDOW))[None, None], whole, input_names=[given], output_names=[made], opset_version=17, dynamo=False, dynamic_axes={
            given: {0: "batch_size", 2: "num_samples"}, made: {0: "batch_size", 1: "num_frames"}})
        graph = onnx.load(whole)
    strip(graph)
    store(graph, folder / file)


def search(embedder, asked):
    """@param asked lengths, params, and how many people there must be"""
    for seed in range(400):
        model, requests = spread(Segmentation(), seed), []
        for length, params, counts in asked:
            found, gap = answer(model, embedder, length, params)
            if gap < MIN_GAP or people(found) not in counts:
                break
            requests.append({"input": {"sound": length}, "params": params, "answer": found})
        else:
            print(seed, [(len(one["answer"]), people(one["answer"])) for one in requests])
            return model, requests
    raise SystemExit("no seed")


def people(turns):
    return len({turn["speaker"] for turn in turns})


def make():
    some = range(2, 7)
    asked = [(LENGTHS[0], {}, some), (LENGTHS[1], {}, some), (LENGTHS[2], {}, some), (LENGTHS[2], {"windowStep": 0.25, "minDurationOff": 0.3, "minDurationOn": 0.2}, some)]
    alone, requests = search(None, asked)
    repository = "diarize-alone"
    write_segmentation(alone, HERE / repository, "onnx/model.onnx", ("input_values", "logits"))
    # As onnx-community has it.
    names = ["NO_SPEAKER", *(f"SPEAKER_{one + 1}" for one in range(SPEAKERS)), *("SPEAKERS_" + "_AND_".join(str(one + 1) for one in pair) for pair in CLASSES[4:])]
    write(HERE / repository / "config.json", {"architectures": ["PyAnnoteForAudioFrameClassification"], "model_type": "pyannote", "id2label": dict(enumerate(names)), "num_labels": len(names)})
    write(HERE / repository / "preprocessor_config.json", {
        "feature_extractor_type": "PyAnnoteFeatureExtractor", "feature_size": 1, "offset": OFFSET, "padding_side": "right", "padding_value": 0.0, "processor_class": "PyAnnoteProcessor", "return_attention_mask": False, "sampling_rate": RATE, "step": STEP})
    rows = [{"architecture": "PyAnnoteForAudioFrameClassification", "repository": repository, "requests": requests}]

    repository, embedder = "diarize-voices", spread(Voice(), 1)
    # The voices of one sound and random weights are more alike than people's.
    own = {"threshold": 0.2}
    asked = [
        (LENGTHS[2], own, some), (LENGTHS[2], {}, [1]), (LENGTHS[2], {"numSpeakers": 2}, [2]), (LENGTHS[2], {"threshold": 0.1, "maxSpeakers": 3, "windowStep": 0.2}, some),
        (LENGTHS[1], {"minSpeakers": 2}, [2]), (LENGTHS[0], own, range(1, 4))]
    model, requests = search(embedder, asked)
    folder = HERE / repository
    write_segmentation(model, folder, "segmentation.onnx", ("x", "y"))
    write_voice(embedder, folder / "embedder", "voices.onnx", ("feats", "embs"))
    (folder / "MAR-INF").mkdir()
    write(folder / "MAR-INF/MANIFEST.json", {"model": {"modelName": "speakers", "serializedFile": "segmentation.onnx", "handler": "speaker_diarizer", "configFile": "model-config.yaml"}})
    (folder / "model-config.yaml").write_text("nodes:\n  embedder: embedder/voices.onnx\n")
    rows.append({"architecture": "speaker-diarization-3.1", "repository": repository, "requests": requests})
    answers("speaker_diarizer", rows)
