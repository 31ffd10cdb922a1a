package reference

// Extract returns what text names, in order of first appearance and each reference once
// (governed-runs 3.1). It returns nil where there is nothing. Any text will do, also one that is not
// UTF-8, and the work is linear in its length.
func Extract(text string) []Reference {
	var found []Reference
	seen := map[Reference]bool{}
	add := func(r Reference) {
		if !seen[r] {
			seen[r] = true
			found = append(found, r)
		}
	}
	// Every rule below starts at the start of a word, and looks no further around it than over the
	// signs between this word and its neighbours. That is what keeps the whole linear.
	mail := addresses{text: text}
	for i := 0; i < len(text); {
		end := wordEnd(text, i)
		if end == i {
			i++
			continue
		}
		// A link comes first and is passed over whole: its path is no place for bare keys.
		if l, ok := linkAt(text, i, end); ok {
			add(l.reference())
			i = l.end
			continue
		}
		if key, ok := keyAt(text, i); ok && !mail.cover(i) {
			add(Reference{JiraIssue, key})
		}
		i = end
	}
	return found
}

// wordEnd returns the end of the ASCII letters and digits that start at i: i if there are none.
func wordEnd(text string, i int) int {
	for i < len(text) && isWordByte(text[i]) {
		i++
	}
	return i
}

func isWordByte(b byte) bool {
	return isLower(b) || isUpper(b) || isDigit(b)
}

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
