const HELP = `Usage:

  tabserve archive --model-name NAME --serialized-file MODEL --handler HANDLER [flags]
    Writes a model archive that TorchServe and TabServe read. The flags are torch-model-archiver's:
      --model-name NAME        The model's name, and the archive's
      --version, -v VERSION    The model's version; 1.0 if it is not given
      --serialized-file FILE   The .onnx file, TensorFlow.js's model.json with its weights beside it, or a folder of Hugging Face's layout
      --handler HANDLER        A built-in handler, such as image_classifier; a folder of Hugging Face's layout names its own
      --extra-files LIST       Labels, tokenizer and others: files, folders or wildcards, separated by commas
      --config-file, -c FILE   model-config.yaml
      --export-path FOLDER     Where the archive is written; here, if it is not given
      --archive-format FORMAT  default (.mar, deflated), zip-store (.mar), tgz, or no-archive (a folder)
      --force, -f              Overwrites an archive that is there
    and these:
      --golden LIST            Runs the model on these inputs, and stores inputs and outputs as golden examples: images
                               (needs the package sharp), .txt, .json ({ "b64": … } is a file), .safetensors files, or seed:N for generated numbers
      --check                  Checks the archive when it is written

  tabserve archive --workflow --workflow-name NAME --spec-file FILE [flags]
    Writes a workflow archive (.war) that TorchServe and TabServe read. The flags are torch-workflow-archiver's:
      --workflow-name NAME     The workflow's name, and the archive's
      --spec-file FILE         The YAML that describes the graph: models and dag
      --handler FILE           The .py file with the functions of the graph, for TorchServe; here they are written in TypeScript
      --extra-files LIST       Files, folders or wildcards, separated by commas, such as the archives of the models
      --export-path FOLDER     Where the archive is written; here, if it is not given
      --force, -f              Overwrites an archive that is there

  tabserve archive --check ARCHIVE
    Checks an archive: layout, config, sizes, hashes; opens the model, and runs the golden examples.

  tabserve archive --update-hashes FOLDER
    Brings the sizes and hashes in an archive's tabserve.json up to date, after files in its folder were edited. With --check, checks the archive then.

  tabserve inspect FILE|FOLDER|URL [flags]
    Prints a model's inputs, outputs, operators, operator sets, precision and size, what each backend lacks for it, and the likely handler with a config to
    paste; of an archive, or a repository of Hugging Face's layout, the handler, and the files and sizes of its models, before any weights are downloaded.
      --write                  Makes the archive: a folder with the model, the config, and the labels and tokenizer beside it; checks that it opens
      --output, -o FOLDER      The archive's folder; the model's name here, if it is not given
      --force, -f              Overwrites an archive that is there

  tabserve optimize ARCHIVE [flags]
    Writes an archive with smaller weights, if it still reproduces its golden examples: the model's inputs and outputs stay the same. Prints the sizes, and
    the largest difference on the golden examples. Out of tolerance, it writes nothing and exits with 1.
      --output, -o PATH        The new archive, a .mar, .zip or .tar.gz file or a folder; without it ARCHIVE's name with the kind of the weights, beside it
      --weights KIND           float16, half the bytes, if it is not given; or int8, a quarter
      --keep                   Keeps the larger models beside the new ones: each device runs the smallest that is right there
      --agreement labels       With int8: the best label must be the same, and the outputs need not be within the tolerance
      --force, -f              Overwrites an archive that is there

  tabserve test ARCHIVE [flags]
    Runs an archive on every backend of an installed Chromium, with Playwright: prints for each its verdict (right, wrong, skipped or failed), its largest
    error, its median and the reason. Exits with 1 if a backend is wrong or has failed, with 2 if nothing could be tested.
      --backends LIST          The backends that must run it, such as webgpu,wasm; without it all of them, and one may be skipped
      --junit FILE             Writes the results as JUnit XML
      --browser PATH           The Chromium; without it the environment variable CHROMIUM_PATH, Playwright's, or an installed one
      --timeout SECONDS        What each backend may take; 120 if it is not given

  tabserve serve ARCHIVE… [flags]
    An archive is a file, a folder or a URL; NAME=ARCHIVE gives it another name; with --model-store, all is every archive there.
    Serves archives over HTTP with onnxruntime-node: TorchServe's inference and metrics API (/predictions/NAME, /ping, /models, /metrics), OpenAI's API
    (/v1/chat/completions and its like), and the Open Inference Protocol (/v2). Web pages may not ask it unless their origin is allowed. Ends on Ctrl+C, when the answers that are under way are sent. SIGHUP loads the archives once more, without losing a request.
    TorchServe's environment variables set what flags do not: TS_INFERENCE_ADDRESS, TS_MODEL_STORE, TS_LOAD_MODELS, TS_DEFAULT_WORKERS_PER_MODEL and others (docs/node.md).
      --port PORT              8080 if it is not given; 0 takes any that is free
      --host HOST              The address to listen on; 127.0.0.1, which only this machine reaches, if it is not given
      --management             Lets requests register archives of the working directory, change and remove models: TorchServe's management API
      --cors ORIGIN            Lets web pages of this origin ask, such as http://localhost:5173 or app://obsidian.md, or * for all; may be given several times
      --allowed-host NAME      A host name by which clients name this server, beside localhost and IP addresses; may be given several times
      --backends LIST          The backends to try, such as wasm; without it onnx/cpu, or TensorFlow.js in plain JavaScript
      --workers NUMBER         The worker threads of each model; without it as the archive says, or 1
      --worker FILE            The module of a worker with a handler of your own, which then serves every archive
      --timeout SECONDS        What each request may take, and each next part of an answer in parts; 120 if it is not given
      --max-request-size BYTES The largest body; 6553500 if it is not given
      --max-response-size BYTES The largest answer that is not sent in parts; without it, no limit
      --model-store FOLDER     Where relative paths of archives begin; the working directory, if it is not given
      --snapshot FILE          Keeps there which models are registered; if it is there, they are registered again at the start
      --access-log FORMAT      Prints a line for each request: common (Apache's Common Log Format) or json
      --model-log LEVEL        Prints what happens to the models: error, warn (lost workers too), info or debug (each answer); as JSON with --access-log json
      --token-auth             Requests need a key of key_file.json, which is written into the working directory: TorchServe's token authorization
      --token-expiration-min N Minutes after which a key expires; 60 if it is not given

  tabserve bench URL [flags]
    Sends requests to a model server, always the same number at once, and prints answers a second, percentiles and statuses. Exits with 1 if an answer was an error.
      --input FILE             The body of each request, which is then a POST; without it, requests are GETs
      --content-type TYPE      Of the body; without it by the file's ending
      --header LINE            A header of each request, such as "Authorization: Bearer KEY"; may be given several times
      --concurrency NUMBER     Requests at once, each on a connection of its own; 8 if it is not given
      --duration SECONDS       10 if it is not given
      --warm-up SECONDS        Before that, without counting; 2 if it is not given
      --report FILE            Writes the figures as JSON

  tabserve copy FOLDER
    Copies the built-in worker and the engines' files, for esbuild, Rollup, Parcel and pages without a bundler. The option assets names the folder's URL.

  tabserve migrate FILE|FOLDER… [flags]
    Changes the imports of an app that uses transformers.js: pipeline comes from tabserve/pipeline. Prints by file and line what it does not change, and what
    differs. It needs the package oxc-parser.
      --dry-run                Prints the same, and writes nothing

  tabserve report A B
    Compares two device reports, which the panel of tabserve/devtools saves: what differs in the devices, the verdicts on each candidate and the outcomes of
    requests, and the times with their ratio, that of B to A.
`;

/** Returns the help of one command, or of all if there is no such command. */
export function helpOf(command: string | undefined): string {
  const own = HELP.split(/\n\n(?=  tabserve )/).filter((section) => section.startsWith(`  tabserve ${command} `));
  return own.length > 0 ? `Usage:\n\n${own.join('\n\n').trimEnd()}\n` : HELP;
}
