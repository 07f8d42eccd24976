package governhttp

import (
	"context"
	"testing"

	"github.com/pdpp-go/pdpp/governor"
)

func BenchmarkSender(b *testing.B) {
	s := NewSender(governor.New("lumen", unpaced), SenderOptions{})
	attempt := func(context.Context) (governor.Outcome, error) { return success, nil }
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Do(b.Context(), attempt); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadQuota(b *testing.B) {
	for name, headers := range map[string]string{
		"none": "Content-Type: application/json\nDate: Wed, 01 May 2024 12:00:00 GMT",
		"github": "Date: Wed, 01 May 2024 12:00:00 GMT\nX-RateLimit-Limit: 5000\nX-RateLimit-Remaining: 4999\n" +
			"X-RateLimit-Reset: 1714568400",
		"draft": "Date: Wed, 01 May 2024 12:00:00 GMT\nRateLimit: \"d\";r=50;t=30\nRateLimit-Policy: \"d\";q=100;w=60",
	} {
		h := answer(headers)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ReadQuota(h, noon)
			}
		})
	}
}
