import { expect, test } from 'vitest';
import { questions, questionsFor } from './questions';

test('an account is offered questions about its own cloud', () => {
  const ofAzure = questionsFor(['azure']);
  expect(ofAzure.some((q) => q.gremlin.includes("'AWS.") || q.gremlin.includes("'GCP."))).toBe(false);
  expect(ofAzure.some((q) => q.text === 'Which storage accounts does the internet reach?')).toBe(true);
  expect(ofAzure.some((q) => q.text === 'How many resources are there of each type?')).toBe(true);
});

test('a question with a type to choose begins with a type of the cloud', () => {
  const machines = questionsFor(['gcp']).find((q) => q.text.startsWith('What leads to'));
  expect(machines?.type).toBe('GCP.Compute.Instance');
  expect(machines?.gremlin).toContain("hasLabel('GCP.Compute.Instance')");
  expect(questionsFor(['gcp']).filter((q) => q.type)).toHaveLength(questions.filter((q) => q.type).length);
});

test('accounts of several clouds are offered all questions', () => {
  expect(questionsFor(['aws', 'azure'])).toEqual(questions);
});
