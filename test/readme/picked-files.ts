import { load } from 'tabserve';

const input = document.querySelector<HTMLInputElement>('input[type=file]')!;
input.addEventListener('change', () => void serve(input.files!));

/**
 * Serves what the visitor picks: one .mar, .zip, .tar.gz or .onnx file, several files, or with the attribute
 * webkitdirectory a folder.
 */
async function serve(files: FileList): Promise<void> {
  const classifier = await load(files, { handler: 'image_classifier' });
  console.log((await classifier.describe()).labels); // { 0: 'zero', 1: 'one', … }
}
