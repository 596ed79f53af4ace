package store

import (
	"encoding/binary"

	"golang.org/x/crypto/blake2b"

	"vigil/internal/posture"
)

// A rid is the row id of an entity: 20 bits account, 15 bits cell, 28 bits
// entity.
const (
	cellBits   = 15
	memberBits = 28
	acctBits   = 20

	memberMask = 1<<memberBits - 1
	acctShift  = cellBits + memberBits
)

// cellOf returns the id of the cell that a row belongs to.
func cellOf(rid int64) int64 { return rid >> memberBits }

// acctOf returns the account that a row belongs to.
func acctOf(rid int64) int64 { return rid >> acctShift }

// A span is a range of rows, both ends included.
type span struct{ from, to int64 }

// cellSpan returns the rows of a cell.
func cellSpan(cell int64) span {
	return span{cell << memberBits, cell<<memberBits | memberMask}
}

// acctSpan returns the rows of an account.
func acctSpan(acct int64) span {
	return span{acct << acctShift, (acct+1)<<acctShift - 1}
}

// cellsOfAcct returns the cells of an account.
func cellsOfAcct(acct int64) span { return span{acct << cellBits, (acct+1)<<cellBits - 1} }

// digest is a hash that nobody can make two things have.
type digest [16]byte

func digestOf(b []byte) digest {
	sum := blake2b.Sum256(b)
	return digest(sum[:16])
}

// idDigest hashes the id of an entity.
func idDigest(id posture.EntityID) digest {
	var space [128]byte
	return digestOf(append(space[:0], id...))
}

// ekeyOf returns what an entity of an account is looked up by. Two entities may
// share one: who looks up compares the ids too.
func ekeyOf(acct int64, id digest) int64 {
	return acct<<acctShift | int64(binary.BigEndian.Uint64(id[:8])>>(64-acctShift))
}
