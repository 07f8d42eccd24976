package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// VerdictCount is how many connections have a tone and a channel.
type VerdictCount struct {
	Tone        string
	Channel     string
	Connections int
}

// VerdictSource counts the verdicts of all connections.
type VerdictSource func(ctx context.Context) ([]VerdictCount, error)

const (
	verdictAge     = 15 * time.Second
	verdictTimeout = 5 * time.Second
)

var verdictDesc = prometheus.NewDesc("pdpp_connections", "Connections by the tone and the channel of their verdict.",
	[]string{"tone", "channel"}, nil)

// verdictCollector calls its source during a scrape and caches the answer. Verdicts that could not be counted are
// absent, not zero.
type verdictCollector struct {
	source VerdictSource
	log    *slog.Logger

	mu     sync.Mutex
	counts map[[2]string]int
	asked  time.Time
}

func (c *verdictCollector) Describe(ch chan<- *prometheus.Desc) { ch <- verdictDesc }

func (c *verdictCollector) Collect(ch chan<- prometheus.Metric) {
	for labels, n := range c.current() {
		ch <- prometheus.MustNewConstMetric(verdictDesc, prometheus.GaugeValue, float64(n), labels[0], labels[1])
	}
}

// current returns the counts, which are immutable. A failed answer is cached as well, so that a database in trouble
// is not queried by every scrape.
func (c *verdictCollector) current() map[[2]string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked.IsZero() && time.Since(c.asked) < verdictAge {
		return c.counts
	}
	ctx, cancel := context.WithTimeout(context.Background(), verdictTimeout)
	defer cancel()
	counts, err := c.source(ctx)
	c.asked, c.counts = time.Now(), nil
	if err != nil {
		c.log.Warn("verdicts could not be counted", "error", err)
		return nil
	}
	c.counts = map[[2]string]int{}
	for _, v := range counts {
		c.counts[[2]string{tones.label(v.Tone), channels.label(v.Channel)}] += v.Connections
	}
	return c.counts
}
