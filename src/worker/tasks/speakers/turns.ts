/** When each speaker speaks: pyannote's `to_diarization` and `to_annotation`. */
import { halfEven } from './half-even.js';
import type { Frames, LocalSpeaker, Window } from './segmentation.js';

/** When somebody speaks. Two of different speakers may overlap. */
export interface SpeakerTurn {
  /** `SPEAKER_00` is who speaks first, `SPEAKER_01` who speaks next, and so on. */
  readonly speaker: string;
  /** Seconds since the start of the recording. */
  readonly start: number;
  readonly end: number;
  /** The mean probability that this speaker speaks, in 0..1. */
  readonly score: number;
}

export interface TurnRules {
  /** Seconds: a shorter turn is left out. */
  readonly minDurationOn: number;
  /** Seconds: a shorter pause of a speaker is none. */
  readonly minDurationOff: number;
  /** How many speak at once at most. */
  readonly most: number;
}

/** A turn in frames: from the first one to that after the last. */
interface Run {
  readonly from: number;
  readonly to: number;
  /** The sum of the probabilities of the frames in which the speaker speaks, and how many they are. */
  readonly sum: number;
  readonly frames: number;
}

/**
 * Returns the turns, in order of their starts.
 * @param identities the speaker of each of `local`, from 0 on
 * @param duration of the recording, in seconds
 */
export function turnsOf(
  windows: readonly Window[],
  local: readonly LocalSpeaker[],
  identities: readonly number[],
  frames: Frames,
  { minDurationOn, minDurationOff, most }: TurnRules,
  duration: number,
): readonly SpeakerTurn[] {
  const { step, offset, sampleRate } = frames;
  const scores = aggregate(windows, local, identities, frames);
  const speaking = chosen(scores, most);
  // The middle of a frame.
  const timeOf = (frame: number): number => (frame * step + (offset + step) / 2) / sampleRate;
  const turns = Array.from({ length: scores.people }, (_, person) =>
    joined(runsOf(speaking, scores, person), (last, next) => timeOf(next.from) - timeOf(last.to) < minDurationOff)
      .map(({ from, to, sum, frames: count }) => ({
        person,
        start: timeOf(from),
        end: Math.min(timeOf(to), duration),
        score: sum / count,
      }))
      .filter(({ start, end }) => end > start && end - start >= minDurationOn),
  ).flat();
  const ordered = turns.sort((a, b) => a.start - b.start || a.end - b.end);
  const names = new Map([...new Set(ordered.map(({ person }) => person))].map((person, at) => [person, nameOf(at)]));
  return ordered.map(({ person, ...turn }) => ({ speaker: names.get(person)!, ...turn }));
}

/** Joins the runs between which a pause is none. */
function joined(runs: readonly Run[], isNone: (last: Run, next: Run) => boolean): readonly Run[] {
  const all: Run[] = [];
  for (const run of runs) {
    const last = all.at(-1);
    if (!last || !isNone(last, run)) all.push(run);
    else
      all[all.length - 1] = { from: last.from, to: run.to, sum: last.sum + run.sum, frames: last.frames + run.frames };
  }
  return all;
}

function nameOf(index: number): string {
  return `SPEAKER_${String(index).padStart(2, '0')}`;
}

/** What all windows say of each frame of the recording. */
interface Scores {
  readonly people: number;
  /** How many people speak. */
  readonly counts: Uint8Array;
  /** In how many windows each speaks, `[frames, people]`. */
  readonly votes: Uint16Array;
  /** The mean probability of each. */
  readonly probabilities: Float32Array;
}

function aggregate(
  windows: readonly Window[],
  local: readonly LocalSpeaker[],
  identities: readonly number[],
  { window, windowStep, step, count }: Frames,
): Scores {
  const people = Math.max(-1, ...new Set(identities)) + 1;
  const total = halfEven((window + (windows.length - 1) * windowStep) / step) + 1;
  const [sums, covered, counts] = [new Float32Array(total), new Float32Array(total), new Uint8Array(total)];
  const [votes, probabilities] = [new Uint16Array(total * people), new Float32Array(total * people)];
  let next = 0;
  for (const [index, { active, probabilities: own }] of windows.entries()) {
    const start = halfEven((index * windowStep) / step);
    const speakers = active.length / count;
    const known: (readonly [speaker: number, person: number])[] = [];
    for (; local[next]?.window === index; next++) known.push([local[next]!.speaker, identities[next]!]);
    const [isHeard, likeliest] = [new Uint8Array(people), new Float32Array(people)];
    for (let frame = 0; frame < count && start + frame < total; frame++) {
      const at = start + frame;
      covered[at]! += 1;
      for (let speaker = 0; speaker < speakers; speaker++) sums[at]! += active[frame * speakers + speaker]!;
      isHeard.fill(0);
      likeliest.fill(0);
      for (const [speaker, person] of known) {
        if (person < 0) continue;
        const place = frame * speakers + speaker;
        isHeard[person] = Math.max(isHeard[person]!, active[place]!);
        likeliest[person] = Math.max(likeliest[person]!, own[place]!);
      }
      for (let person = 0; person < people; person++) {
        votes[at * people + person]! += isHeard[person]!;
        probabilities[at * people + person]! += likeliest[person]!;
      }
    }
  }
  for (let at = 0; at < total; at++) {
    if (covered[at] === 0) continue;
    counts[at] = halfEven(sums[at]! / covered[at]!);
    for (let person = 0; person < people; person++) probabilities[at * people + person]! /= covered[at]!;
  }
  return { people, counts, votes, probabilities };
}

/** Returns who speaks in each frame: as many as do on average, those with the most votes. */
function chosen({ people, counts, votes }: Scores, most: number): Uint8Array {
  const speaking = new Uint8Array(votes.length);
  for (const [frame, count] of counts.entries()) {
    const start = frame * people;
    for (let left = Math.min(count, most); left > 0; left--) {
      let best = -1;
      for (let at = start; at < start + people; at++)
        if (speaking[at] === 0 && votes[at]! > (best < 0 ? 0 : votes[best]!)) best = at;
      if (best < 0) break;
      speaking[best] = 1;
    }
  }
  return speaking;
}

/** Returns when a person speaks. */
function runsOf(speaking: Uint8Array, { people, counts, probabilities }: Scores, person: number): readonly Run[] {
  const runs: Run[] = [];
  const { length } = counts;
  for (let from = 0; from < length; from++) {
    if (speaking[from * people + person] === 0) continue;
    let [to, sum] = [from, 0];
    for (; to < length && speaking[to * people + person] === 1; to++) sum += probabilities[to * people + person]!;
    // The last frame has none after it.
    runs.push({ from, to: Math.min(to, length - 1), sum, frames: to - from });
    from = to;
  }
  return runs;
}
