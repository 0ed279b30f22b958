import { load } from 'tabserve';

const classifier = await load('https://huggingface.co/ORG/NAME', {
  handler: 'image_classifier',
  allowedOrigins: [
    'https://aws.cdn.hf.co',
    'https://us.aws.cdn.hf.co',
    'https://us-east-1.aws.cdn.hf.co',
    'https://us-west-2.aws.cdn.hf.co',
    'https://eu-west-3.aws.cdn.hf.co',
    'https://ap-southeast-1.aws.cdn.hf.co',
    'https://us.gcp.cdn.hf.co',
    'https://us-east1.us.gcp.cdn.hf.co',
    'https://us-central1.us.gcp.cdn.hf.co',
    'https://us-west4.us.gcp.cdn.hf.co',
    'https://europe-west4.us.gcp.cdn.hf.co',
    'https://asia-southeast1.us.gcp.cdn.hf.co',
    'https://cdn-lfs.hf.co',
    'https://cdn-lfs-us-1.hf.co',
    'https://cdn-lfs-eu-1.hf.co',
  ],
});
await classifier.dispose();
