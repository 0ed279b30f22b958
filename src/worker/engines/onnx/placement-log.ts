import type { GraphNodes } from '../../../contract/backends.js';

/**
 * A line of ONNX Runtime's log: maybe a color, a time, and in brackets the severity (V, I, W, E or F), the logger and
 * the source.
 */
const LINE = /^\S{0,9}\d{4}-\d\d-\d\d [\d:.]+ \[([VIWEF]):onnxruntime:/;

/**
 * What the WebNN provider logs for each node that it does not support: `helper.cc` in `webnn/builders` of ONNX Runtime
 * 1.30.
 */
const REFUSED = /Operator type: \[(\w+)\].* supported: \[0\]/;

/** What it logs when it has divided a graph: `webnn_execution_provider.cc`. */
const DIVIDED = /number of nodes in the graph: (\d+) number of nodes supported by WebNN: (\d+)/;

/**
 * Finds out where the nodes of a graph run, from ONNX Runtime's log: its JavaScript API does not tell. The log goes to
 * the console's methods as they were when its WebAssembly was instantiated, which the first session does. So these
 * methods are replaced until then by functions that read its lines and pass on others.
 */
export class PlacementLog {
  /** The options of a session whose log is read. */
  static readonly session = { logSeverityLevel: 0 } as const;

  /** The operators of the graph that is being divided. */
  #refused = new Set<string>();
  #last: GraphNodes | undefined;
  #all: GraphNodes = { total: 0, onWasm: 0, operators: [] };

  /** Sum over the graphs of all sessions. */
  get nodes(): GraphNodes {
    return this.#all;
  }

  /** Calls `create`, which creates a session. Also returns where its nodes run; undefined if the log does not say. */
  async watch<T>(create: () => Promise<T>): Promise<{ readonly session: T; readonly nodes: GraphNodes | undefined }> {
    const { log, error } = console;
    this.#last = undefined;
    console.log = this.#filter(log);
    console.error = this.#filter(error);
    try {
      const session = await create();
      const nodes = this.#last as GraphNodes | undefined;
      if (nodes) this.#all = sum(this.#all, nodes);
      return { session, nodes };
    } finally {
      Object.assign(console, { log, error });
    }
  }

  #filter(print: typeof console.log): typeof console.log {
    return (...args: readonly unknown[]) => {
      const line = String(args[0]);
      const severity = LINE.exec(line)?.[1];
      if (severity === undefined || severity === 'E' || severity === 'F') return print.apply(console, [...args]);
      const [, operator] = REFUSED.exec(line) ?? [];
      if (operator !== undefined) this.#refused.add(operator);
      const [, total, taken] = DIVIDED.exec(line) ?? [];
      if (total === undefined) return;
      // A graph in the graph (`If`, `Loop`) comes before it; the last line is about the whole.
      this.#last = { total: Number(total), onWasm: Number(total) - Number(taken), operators: [...this.#refused] };
      this.#refused = new Set();
    };
  }
}

function sum(a: GraphNodes, b: GraphNodes): GraphNodes {
  return {
    total: a.total + b.total,
    onWasm: a.onWasm + b.onWasm,
    operators: [...new Set([...a.operators, ...b.operators])],
  };
}
