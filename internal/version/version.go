// Package version holds the version of the program, in one place.
package version

// Number is the version of this program, by semantic versioning.
const Number = "0.1.0"
