package directory

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// decodeSID returns the text form of a binary security identifier.
func decodeSID(b []byte) (string, error) {
	if len(b) < 8 || len(b) != 8+4*int(b[1]) {
		return "", fmt.Errorf("decode SID: %d bytes are not a valid length", len(b))
	}
	authority := uint64(binary.BigEndian.Uint16(b[2:]))<<32 | uint64(binary.BigEndian.Uint32(b[4:]))
	var out strings.Builder
	fmt.Fprintf(&out, "S-%d-%d", b[0], authority)
	for rest := b[8:]; len(rest) > 0; rest = rest[4:] {
		fmt.Fprintf(&out, "-%d", binary.LittleEndian.Uint32(rest))
	}
	return out.String(), nil
}
