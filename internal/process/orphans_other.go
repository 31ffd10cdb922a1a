//go:build !linux

package process

import (
	"errors"
	"os"
	"syscall"
)

// AdoptOrphans is for Linux only; elsewhere it is an error that wraps errors.ErrUnsupported.
func AdoptOrphans() error { return errors.ErrUnsupported }

func keepRange(uintptr) bool { return false }

func bornIn(*os.File, *syscall.SysProcAttr) {}

func anyChild() bool { return false }

func endOrphans() {}

func endDescendants(int) {}
