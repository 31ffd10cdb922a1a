package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64

// confirm asks whether what is to be done is meant, which takes a terminal. Anything but a yes is refused, as an error that
// says so. Verb names the command for who has none.
func confirm(s streams, question, verb, refused string) error {
	if !isTerminal(s.in) || !isTerminal(s.err) {
		return fmt.Errorf("there is no terminal to ask on; say --yes to %s without being asked", verb)
	}
	if _, err := fmt.Fprintf(s.err, "%s [y/N] ", question); err != nil {
		return err
	}
	answer, err := bufio.NewReader(io.LimitReader(s.in, maxAnswer)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer := strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New(refused)
	}
	return nil
}
