package protocol_test

import (
	"fmt"
	"testing"

	"github.com/loomrun/loom/protocol"
)

const softwareChange = "../catalog/bundled/software-change-1.yaml"

func BenchmarkCompile(b *testing.B) {
	data := read(b, softwareChange)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := protocol.Compile(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNormalForm(b *testing.B) {
	p := compiled(b, string(read(b, softwareChange)))
	b.SetBytes(int64(len(p.NormalForm())))
	b.ReportAllocs()
	for b.Loop() {
		p.NormalForm()
	}
}

func BenchmarkSameRules(b *testing.B) {
	p := compiled(b, string(read(b, softwareChange)))
	b.ReportAllocs()
	for b.Loop() {
		p.SameRules(p)
	}
}

// The time for a byte should not grow with the number of claims.
func BenchmarkCompileRefusedClaims(b *testing.B) {
	for _, c := range []struct{ name, last string }{{"too deep", ""}, {"cycle", "c0"}} {
		for _, n := range []int{5000, 20_000, 80_000} {
			data := []byte(claims(chain(n, c.last)...))
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					if _, err := protocol.Compile(data); err == nil {
						b.Fatal("accepted")
					}
				}
			})
		}
	}
}
