import { Explained } from '../page/explained.js';

/** A camera or a microphone, in the words of its messages. */
export interface Device {
  readonly name: 'camera' | 'microphone';
  /** What it gives. */
  readonly gives: 'picture' | 'sound';
  /** What a visitor without one can do. */
  readonly instead: string;
}

/** Says why a device gives nothing; the name is that of the browser's error. */
export class DeviceError extends Explained {
  override readonly name: string;

  constructor(name: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
  }
}

/** Asks the visitor for a device. @throws `DeviceError` */
export async function openDevice(device: Device, constraints: MediaStreamConstraints): Promise<MediaStream> {
  if (!('mediaDevices' in navigator))
    throw new DeviceError(
      'insecure',
      `The browser allows the ${device.name} on https and localhost only. Open this page there.`,
    );
  try {
    return await navigator.mediaDevices.getUserMedia(constraints);
  } catch (cause) {
    const { name, message } = cause as DOMException;
    throw new DeviceError(name, reasons(device)[name] ?? `The ${device.name} could not be started: ${message}`, {
      cause,
    });
  }
}

function reasons({ name, gives, instead }: Device): Readonly<Record<string, string>> {
  return {
    NotAllowedError: `This page may not use the ${name}. Allow it in the browser’s address bar, then start the ${name} again.`,
    NotFoundError: `No ${name} was found. ${instead}`,
    NotReadableError: `The ${name} gives no ${gives}. Another program may be using it: close that, then start the ${name} again.`,
  };
}
