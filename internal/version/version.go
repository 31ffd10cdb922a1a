// Package version holds the version of the program and its day, in one place.
package version

// Number is the version of this program, by semantic versioning.
const Number = "0.1.0"

// Date is the day of this version, for documents that show one.
const Date = "2026-11-30"
