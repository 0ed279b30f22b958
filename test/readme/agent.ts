import { load } from 'tabserve';

interface Tool {
  readonly description: string;
  readonly properties: Readonly<Record<string, object>>;
  run(given: Readonly<Record<string, unknown>>): unknown;
}

const notes = [
  { day: 'Monday', text: 'The cat is at the vet.' },
  { day: 'Friday', text: 'Dinner with Ada at seven.' },
];

/** What the app lets the model do. */
const TOOLS: Readonly<Record<string, Tool>> = {
  notes_of: {
    description: "Returns the visitor's notes of a day.",
    properties: { day: { enum: ['Monday', 'Friday'] } },
    run: ({ day }) => notes.filter((note) => note.day === day).map(({ text }) => text),
  },
  add_note: {
    description: 'Writes a note.',
    properties: { day: { enum: ['Monday', 'Friday'] }, text: { type: 'string', maxLength: 60 } },
    run: ({ day, text }) => notes.push({ day: String(day), text: String(text) }),
  },
};
const tools = Object.entries(TOOLS).map(([name, { description, properties }]) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  },
}));

/** Calls a tool, and returns what the model reads of it: what went wrong, too, so that it can try again. */
async function call(name: string, given: Readonly<Record<string, unknown>>): Promise<string> {
  try {
    return JSON.stringify(await TOOLS[name]!.run(given));
  } catch (error) {
    return `It failed: ${String(error)}`;
  }
}

// A repository that has learned to call tools: 'https://huggingface.co/onnx-community/Qwen3-0.6B-ONNX'.
const model = await load('/models/writer/', { handler: 'text_generator' });

/** Answers a question with as many steps as are allowed. */
async function ask(question: string, { steps, signal }: { steps: number; signal: AbortSignal }): Promise<string> {
  const messages: { role: string; content: unknown; [key: string]: unknown }[] = [
    { role: 'system', content: 'You are the keeper of notes. Use the tools for what you do not know.' },
    { role: 'user', content: question },
  ];
  for (let step = 1; ; step++) {
    // The last step has no tools, so that it is an answer. This model calls none by itself; leave out toolChoice.
    const params = { maxNewTokens: 80, ...(step === 1 && { toolChoice: { name: 'notes_of' } }) };
    const offered = step < steps ? { tools } : {};
    const { text, toolCalls = [] } = await model.predict({ messages, ...offered }, { params, signal });
    if (toolCalls.length === 0) return text;
    const calls = toolCalls.map(({ id, ...own }) => ({ id, type: 'function', function: own }));
    messages.push({ role: 'assistant', content: text, tool_calls: calls });
    for (const { id, name, arguments: given } of toolCalls) {
      const content = await call(name, given);
      console.log(`${name} gave ${content}`); // notes_of gave ["Dinner with Ada at seven."]
      messages.push({ role: 'tool', tool_call_id: id, name, content });
    }
  }
}

const answer = await ask('What is on Friday?', { steps: 2, signal: AbortSignal.timeout(120_000) });
console.log(answer !== ''); // true
await model.dispose();
