package document

import "unicode/utf8"

// Cursor turns byte offsets of a text into places. It reads each byte once, so offsets must not
// grow smaller from one call to the next.
type Cursor struct {
	data   []byte
	offset int64
	place  Place
}

// NewCursor starts at line 1, column 1 of data.
func NewCursor(data []byte) *Cursor {
	return &Cursor{data: data, place: Place{Line: 1, Column: 1}}
}

// At gives the place of the byte at offset, which may be the end of the text.
func (c *Cursor) At(offset int64) Place {
	for ; c.offset < offset; c.offset++ {
		switch b := c.data[c.offset]; {
		case b == '\n':
			c.place.Line++
			c.place.Column = 1
		case utf8.RuneStart(b):
			c.place.Column++
		}
	}
	return c.place
}

// FirstInvalid gives the offset of the first byte that is not UTF-8, or len(data) where all is.
func FirstInvalid(data []byte) int {
	if utf8.Valid(data) {
		return len(data)
	}
	for i := 0; ; {
		c, size := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
}
