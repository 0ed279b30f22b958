'use client';

import { useModel } from 'tabserve/react';

export default function Status({ loading }) {
  return useModel({ model: '/models/digits/', handler: 'image_classifier', loading }).status;
}
