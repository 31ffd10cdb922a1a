//go:build ignore

// Receiver prints what is posted to http://127.0.0.1:8080/hook, until it is interrupted.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("POST /hook", func(w http.ResponseWriter, r *http.Request) {
		document, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Printf("%s\n", document)
		w.WriteHeader(http.StatusNoContent)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:8080", nil))
	os.Exit(1)
}
