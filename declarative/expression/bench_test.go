package expression_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/declarative/expression"
)

func BenchmarkTemplate(b *testing.B) {
	c := sampleContext(b, parsed(b))
	for name, source := range map[string]string{
		"path":      "/v1/users/{{ stream_partition.id }}/items",
		"setting":   "{{ config['name'] }}",
		"condition": "{{ not response.get('next') }}",
		"typical":   "{{ response.get('page', {}).get('number', 0) + 1 if response.data | length > 0 else '' }}",
		"time":      "{{ format_datetime(config.instant, '%Y-%m-%dT%H:%M:%SZ') }}",
	} {
		b.Run(name, func(b *testing.B) {
			compiled, err := expression.Compile(source, everything)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := compiled.Value(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
