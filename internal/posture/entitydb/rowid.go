package entitydb

import (
	"encoding/binary"

	"golang.org/x/crypto/blake2b"

	"vigil/internal/posture"
)

// A row id is composed of the account number (20 bits), the cell within the account
// (15 bits) and the entity within the cell (28 bits), so that the rows of an account
// and those of a cell are contiguous ranges.
const (
	cellBits    = 15
	memberBits  = 28
	accountBits = 20

	memberMask   = 1<<memberBits - 1
	accountShift = cellBits + memberBits
)

// cellOf returns the id of the cell that a row belongs to.
func cellOf(rowID int64) int64 { return rowID >> memberBits }

// accountOf returns the number of the account that a row belongs to.
func accountOf(rowID int64) int64 { return rowID >> accountShift }

// A span is a range of rows, both ends included.
type span struct{ from, to int64 }

// cellSpan returns the rows of a cell.
func cellSpan(cell int64) span {
	return span{cell << memberBits, cell<<memberBits | memberMask}
}

// accountSpan returns the rows of an account.
func accountSpan(accountNo int64) span {
	return span{accountNo << accountShift, (accountNo+1)<<accountShift - 1}
}

// digest is a collision-resistant hash.
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

// idHashOf returns the key that an entity of an account is looked up by: the account
// number and 43 bits of the hash of the id. Two entities may share a key, so callers
// must also compare IDs.
func idHashOf(accountNo int64, id digest) int64 {
	return accountNo<<accountShift | int64(binary.BigEndian.Uint64(id[:8])>>(64-accountShift))
}
