package broker

import (
	"os"
	"syscall"
)

// changes tells when a file of the folder gets its name; several such may be one word. Stop ends it. Where the system has no watch left, the
// channel is nil.
func changes(path string) (told <-chan struct{}, stop func()) {
	none := func() {}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, none
	}
	events := os.NewFile(uintptr(fd), "inotify")
	if _, err := syscall.InotifyAddWatch(fd, path, syscall.IN_MOVED_TO|syscall.IN_ONLYDIR|syscall.IN_DONT_FOLLOW); err != nil {
		_ = events.Close()
		return nil, none
	}
	word := make(chan struct{}, 1)
	go func() {
		// What the events say is not looked at: the folder is listed.
		buffer := make([]byte, 16<<10)
		for {
			if _, err := events.Read(buffer); err != nil {
				return
			}
			select {
			case word <- struct{}{}:
			default:
			}
		}
	}()
	return word, func() { _ = events.Close() }
}
