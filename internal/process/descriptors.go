package process

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// firstOther is the first descriptor after the three standard ones.
const firstOther = 3

// keepDescriptors marks every other descriptor of this process to be closed in a child. What Go opens
// is marked already; this is about what our own parent left open, and about what foreign code opened.
func keepDescriptors() error {
	if keepRange(firstOther) {
		return nil
	}
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("list open descriptors before starting a program: %w", err)
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= firstOther {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}
