import list from './questions.json';

/** A query to begin with. In some the type is only an example: the user chooses another one. */
export interface Question {
  text: string;
  gremlin: string;
  type?: string;
}

/** docs/queries.md lists the questions, and a test of the demo runs each of them. */
export const questions: Question[] = list;

/** The cloud that a question is about; undefined for a question about any. */
const providerOf = (q: Question) => /hasLabel\('(AWS|Azure|GCP)\./.exec(q.gremlin)?.[1]?.toLowerCase();

/** The type that replaces the AWS type of a question for accounts of another cloud. */
const examples = new Map([
  ['azure', 'Azure.Compute.VirtualMachine'],
  ['gcp', 'GCP.Compute.Instance'],
]);

/** The questions that make sense for accounts of these clouds. */
export function questionsFor(providers: string[]): Question[] {
  if (providers.length !== 1) return questions;
  const example = examples.get(providers[0] ?? '');
  const ofCloud = questions.map(({ text, gremlin, type }) =>
    type && example
      ? { text: text.replace(type, example), gremlin: gremlin.replaceAll(type, example), type: example }
      : { text, gremlin, ...(type ? { type } : {}) },
  );
  return ofCloud.filter((q) => [undefined, providers[0]].includes(providerOf(q)));
}

/** Searches to begin with. */
export const searches = [
  { text: 'What is not encrypted in production', query: 'property.encrypted = false AND tag.Environment = production' },
  { text: 'What has a public address', query: 'exists(property.publicIpAddress)' },
  { text: 'What has no owner in eu-west-1', query: 'region = eu-west-1 AND NOT exists(tag.Owner)' },
];

/** The text of a question with a blank instead of its example. */
export const asked = (q: Question) => (q.type ? q.text.replace(q.type, '…') : q.text);
