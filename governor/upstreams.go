package governor

import (
	"encoding/binary"
	"math/bits"
)

// upstreams is a set of artifacts that invalidation rules watch, one bit each. A nil set is empty.
type upstreams []uint64

func newUpstreams(size int) upstreams { return make(upstreams, (size+63)/64) }

func (u upstreams) add(i int32) { u[i/64] |= 1 << (i % 64) }

func (u upstreams) addAll(v upstreams) {
	for i := range v {
		u[i] |= v[i]
	}
}

// meets tells whether the two sets share a member.
func (u upstreams) meets(v upstreams) bool {
	for i := range min(len(u), len(v)) {
		if u[i]&v[i] != 0 {
			return true
		}
	}
	return false
}

// both gives the members that two sets of one size share.
func (u upstreams) both(v upstreams) upstreams {
	shared := make(upstreams, len(u))
	for i := range u {
		shared[i] = u[i] & v[i]
	}
	return shared
}

// key gives the set as something to look it up by.
func (u upstreams) key() string {
	key := make([]byte, 0, 8*len(u))
	for _, word := range u {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	return string(key)
}

// members gives the members, least first.
func (u upstreams) members() []int32 {
	var members []int32
	for i, word := range u {
		for ; word != 0; word &= word - 1 {
			members = append(members, int32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return members
}
