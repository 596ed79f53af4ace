import { ApiError } from '../api/error';
import { sentence } from './text';

/** The text that tells a user why a request failed. */
export const failureText = (cause: unknown) =>
  cause instanceof ApiError ? sentence(cause.message) : 'Something went wrong in the console. Try again.';
