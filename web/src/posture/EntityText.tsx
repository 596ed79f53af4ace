import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { nameInId, sentence } from '../parts/text';

const id = /((?:AWS|Azure|GCP)\.[A-Za-z0-9]+\.[^\s,]+\.[^\s,]+\.[A-Za-z0-9]+\.[^\s,]+)/;

/** A sentence of the API in which resources are named by their ids: each becomes a link with its name. */
export function EntityText({ text }: { text: string }) {
  return sentence(text)
    .split(id)
    .map((part, i) =>
      id.test(part) ? (
        <Link key={i} className="link inline-link" to={`/resource/${encodeURIComponent(part)}`} title={part}>
          {nameInId(part)}
        </Link>
      ) : (
        <Fragment key={i}>{part}</Fragment>
      ),
    );
}
