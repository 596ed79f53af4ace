import list from './questions.json';

/** Queries to begin with. docs/queries.md lists them, and a test of the demo runs each of them. */
export const questions: { text: string; gremlin: string }[] = list;
