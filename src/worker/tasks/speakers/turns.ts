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
  choose(scores, most);
  // The middle of a frame.
  const timeOf = (frame: number): number => (frame * step + (offset + step) / 2) / sampleRate;
  const turns = scores.people.flatMap((scored, person) =>
    joined(runsOf(scored, scores.counts.length), (last, next) => timeOf(next.from) - timeOf(last.to) < minDurationOff)
      .map(({ from, to, sum, frames: count }) => ({
        person,
        start: timeOf(from),
        end: Math.min(timeOf(to), duration),
        score: sum / count,
      }))
      .filter(({ start, end }) => end > start && end - start >= minDurationOn),
  );
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

/** What the windows say of a person, from the first frame of the first one that knows the person on. */
interface Scored {
  readonly from: number;
  /** In how many windows the person speaks, frame by frame. */
  readonly votes: Uint16Array;
  /** The mean probability that the person speaks. */
  readonly probabilities: Float32Array;
  /** Whether the person is one of those who speak: 1 or 0. */
  readonly speaking: Uint8Array;
}

/** What all windows say of the recording. */
interface Scores {
  /** How many people speak, frame by frame. */
  readonly counts: Uint8Array;
  readonly people: readonly Scored[];
}

function aggregate(
  windows: readonly Window[],
  local: readonly LocalSpeaker[],
  identities: readonly number[],
  { window, windowStep, step, count }: Frames,
): Scores {
  const total = halfEven((window + (windows.length - 1) * windowStep) / step) + 1;
  const startOf = (index: number): number => halfEven((index * windowStep) / step);
  const [sums, covered, counts] = [new Float32Array(total), new Float32Array(total), new Uint8Array(total)];
  const people = spansOf(local, identities).map(([first, last]): Scored => {
    const from = startOf(first);
    const length = Math.min(total, startOf(last) + count) - from;
    return {
      from,
      votes: new Uint16Array(length),
      probabilities: new Float32Array(length),
      speaking: new Uint8Array(length),
    };
  });
  let next = 0;
  for (const [index, { active, probabilities: own }] of windows.entries()) {
    const start = startOf(index);
    const speakers = active.length / count;
    // The window's speakers by the person that they are.
    const known = new Map<number, number[]>();
    for (; local[next]?.window === index; next++) {
      const person = identities[next]!;
      if (person >= 0) known.set(person, [...(known.get(person) ?? []), local[next]!.speaker]);
    }
    for (let frame = 0; frame < count && start + frame < total; frame++) {
      const at = start + frame;
      covered[at]! += 1;
      for (let speaker = 0; speaker < speakers; speaker++) sums[at]! += active[frame * speakers + speaker]!;
      for (const [person, members] of known) {
        const { from, votes, probabilities } = people[person]!;
        let [isHeard, likeliest] = [0, 0];
        for (const speaker of members) {
          const place = frame * speakers + speaker;
          isHeard = Math.max(isHeard, active[place]!);
          likeliest = Math.max(likeliest, own[place]!);
        }
        votes[at - from]! += isHeard;
        probabilities[at - from]! += likeliest;
      }
    }
  }
  for (let at = 0; at < total; at++) if (covered[at]! > 0) counts[at] = halfEven(sums[at]! / covered[at]!);
  for (const { from, probabilities } of people)
    for (let at = 0; at < probabilities.length; at++)
      if (covered[from + at]! > 0) probabilities[at]! /= covered[from + at]!;
  return { counts, people };
}

/** Returns the first and the last window of each person. */
function spansOf(
  local: readonly LocalSpeaker[],
  identities: readonly number[],
): readonly (readonly [number, number])[] {
  const spans: (readonly [number, number])[] = [];
  for (const [at, { window }] of local.entries()) {
    const person = identities[at]!;
    if (person >= 0) spans[person] = [spans[person]?.[0] ?? window, window];
  }
  return spans;
}

/** Sets who speaks in each frame: as many as do on average, those with the most votes. */
function choose({ counts, people }: Scores, most: number): void {
  for (const [frame, count] of counts.entries())
    for (let left = Math.min(count, most); left > 0; left--) {
      let [best, votes]: [Scored | undefined, number] = [undefined, 0];
      for (const person of people) {
        const at = frame - person.from;
        if (person.speaking[at] === 0 && person.votes[at]! > votes) [best, votes] = [person, person.votes[at]!];
      }
      if (!best) break;
      best.speaking[frame - best.from] = 1;
    }
}

/** Returns when a person speaks. @param frames of the recording */
function runsOf({ from: start, speaking, probabilities }: Scored, frames: number): readonly Run[] {
  const runs: Run[] = [];
  for (let from = 0; from < speaking.length; from++) {
    if (speaking[from] === 0) continue;
    let [to, sum] = [from, 0];
    for (; speaking[to] === 1; to++) sum += probabilities[to]!;
    // The last frame has none after it.
    runs.push({ from: start + from, to: Math.min(start + to, frames - 1), sum, frames: to - from });
    from = to;
  }
  return runs;
}
