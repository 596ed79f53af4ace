import list from './questions.json';

/** A query to begin with. In some the type is only an example: the user chooses another one. */
export interface Question {
  text: string;
  gremlin: string;
  type?: string;
}

/** docs/queries.md lists the questions, and a test of the demo runs each of them. */
export const questions: Question[] = list;

/** The text of a question with a blank instead of its example. */
export const asked = (q: Question) => (q.type ? q.text.replace(q.type, '…') : q.text);
