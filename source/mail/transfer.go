package mail

import (
	"bytes"
	"encoding/base64"
)

// decodeBase64 appends what can be decoded (RFC 2045 6.8): signs that are not of the alphabet are passed over, and text that goes on behind
// its padding too.
func decodeBase64(dst, text []byte) []byte {
	start := len(dst)
	need := base64.StdEncoding.DecodedLen(len(text))
	dst = append(dst, make([]byte, need)...)
	// The common case, whole lines without damage, is the library's: it passes over line ends.
	if n, err := base64.StdEncoding.Decode(dst[start:], text); err == nil {
		return dst[:start+n]
	}
	dst = dst[:start]
	var bits uint32
	held := 0
	for _, c := range text {
		v := base64Values[c]
		if v == 0xff {
			if c == '=' {
				bits, held = 0, 0
			}
			continue
		}
		bits = bits<<6 | uint32(v)
		if held += 6; held >= 8 {
			held -= 8
			dst = append(dst, byte(bits>>held))
		}
	}
	return dst
}

var base64Values = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for i := range len(alphabet) {
		values[alphabet[i]] = byte(i)
	}
	values['+'], values['-'], values['/'], values['_'] = 62, 62, 63, 63
	return values
}()

// decodeQuoted appends what quoted-printable text stands for (RFC 2045 6.7). What is no escape stays as it is.
func decodeQuoted(dst, text []byte) []byte {
	for len(text) > 0 {
		line := text
		end := bytes.IndexByte(text, '\n')
		if end >= 0 {
			line = text[:end]
		}
		text = text[min(len(line)+1, len(text)):]
		line = bytes.TrimRight(line, " \t\r")
		soft := bytes.HasSuffix(line, []byte("="))
		if soft {
			line = line[:len(line)-1]
		}
		for {
			at := bytes.IndexByte(line, '=')
			if at < 0 {
				break
			}
			dst = append(dst, line[:at]...)
			line = line[at+1:]
			if len(line) >= 2 {
				if v, ok := hexByte(line[0], line[1]); ok {
					dst = append(dst, v)
					line = line[2:]
					continue
				}
			}
			dst = append(dst, '=')
		}
		dst = append(dst, line...)
		if !soft && end >= 0 {
			dst = append(dst, '\n')
		}
	}
	return dst
}

func hexByte(high, low byte) (byte, bool) {
	h, l := hexValues[high], hexValues[low]
	return h<<4 | l, h|l != 0xff
}

var hexValues = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i := range 10 {
		values['0'+i] = byte(i)
	}
	for i := range 6 {
		values['a'+i], values['A'+i] = byte(10+i), byte(10+i)
	}
	return values
}()
