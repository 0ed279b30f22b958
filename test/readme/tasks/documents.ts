import { load } from 'tabserve';

const reader = await load('https://huggingface.co/Xenova/donut-base-finetuned-docvqa', {
  handler: 'document_question_answerer',
});
const image = document.querySelector('img')!;
const { answer, fields } = await reader.predict({ image, question: 'What is the total?' });
console.log(answer ?? 'no answer', fields);
