package cli

import (
	"os"
	"syscall"
	"unsafe"
)

// columns gives the width of a terminal, in characters. It reports false for a stream that is none. A
// terminal that does not tell its width has 80.
func columns(stream any) (int, bool) {
	file, ok := stream.(*os.File)
	if !ok {
		return 0, false
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return 0, false
	}
	var size struct{ rows, columns, width, height uint16 } // struct winsize of ioctl_tty(2)
	failed := syscall.ENOTTY
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	})
	if err != nil || failed != 0 {
		return 0, false
	}
	if size.columns == 0 {
		return 80, true
	}
	return int(size.columns), true
}

func isTerminal(stream any) bool {
	_, ok := columns(stream)
	return ok
}
