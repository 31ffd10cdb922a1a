// Package bench measures Loom beside programs that do a comparable job, in the same run and on the
// same machine. It is a module of its own, so that what it compares with is no dependency of Loom.
// make bench runs it; docs/benchmarks.md has figures.
package bench
