// Package uuid8 makes identifiers that follow from what they name.
package uuid8

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Of gives a UUID of version 8 (RFC 9562 section 5.8) computed from parts: the same parts in the same
// order give the same identifier, and no other parts can be made to give it.
func Of(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		// The length keeps ("ab", "c") apart from ("a", "bc").
		hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		hash.Write([]byte(part))
	}
	u := hash.Sum(nil)
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
