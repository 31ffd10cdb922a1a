// Package result writes the answer of a run as a labelled document (retrieval 7, D42).
package result
