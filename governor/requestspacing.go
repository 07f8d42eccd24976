package governor

import "time"

const (
	// spacingTrials is how many requests must pass at a distance that passed before, to prove that the provider
	// limits the distance.
	spacingTrials = 30
	// trialSlowdown is how much slower than that distance the trial is.
	trialSlowdown = 1.02
	// spacingPause is the pause, in intervals, after a refused distance.
	spacingPause = 1.5
	// latencyWeight is the weight of the newest response time. It counts as at most maxDeviations mean deviations
	// from the mean.
	latencyWeight, maxDeviations = 0.1, 5
	// tinyDeviation is a deviation in seconds that does not matter.
	tinyDeviation = 1e-12
	// After a late response the next request waits longer, except for the usual delay. The usual delay adapts so
	// that this wait averages delayShare of the interval. One response counts for at most maxDelayShare of it.
	delayShare, maxDelayShare = 0.002, 0.05
	// maxTransitDelay is how many seconds an unanswered request may be assumed to be in transit.
	maxTransitDelay = 2
	// maxStrikes early refusals in a row show that the distance does not matter.
	maxStrikes = 6
	// maxSpacingMargin is the widest margin below a limit on distances, for networks with uneven delays.
	maxSpacingMargin = 0.2
)

// requestSpacing detects providers that require a minimum distance between two requests and allow no burst. A
// long pause is useless there. The limit lies between the shortest distance that passed and the distance that was
// refused.
type requestSpacing struct {
	known    bool // the provider limits the distance
	ruledOut bool // the provider does not limit the distance
	trial    bool
	strikes  int // early refusals in a row

	gap        float64       // probable gap at the provider before the last request
	last       time.Duration // when the last request was sent
	latency    float64       // mean response time
	deviation  float64       // mean deviation of the response time
	usualDelay float64       // delay of a response that is considered usual
	lastDelay  float64       // probable delay of the last request in transit
	unanswered bool          // the last request is unanswered
	shortest   float64       // shortest gap that passed
}

// recordSend records that a request is sent. If the previous one was delayed in transit, the gap at the provider
// is smaller than the gap between the sends.
func (s *requestSpacing) recordSend(at, before time.Duration) {
	s.gap, s.last, s.lastDelay, s.unanswered = max(0, inSeconds(at-before)-s.transitDelay(before, at)), at, 0, true
}

// recordReply records that the request sent at sent is finished.
func (s *requestSpacing) recordReply(sent time.Duration) {
	s.unanswered = s.unanswered && sent != s.last
}

// transitDelay returns how much later than usual the last request may have arrived. An unanswered request may
// still be in transit.
func (s *requestSpacing) transitDelay(left, at time.Duration) float64 {
	if s.unanswered && s.latency > 0 {
		return min(max(0, inSeconds(at-left)-s.latency-s.usualDelay), maxTransitDelay)
	}
	return s.lastDelay
}

// recordSuccess records a successful response at a pace of the interval. Only its response time shows whether a
// request was delayed in transit.
func (s *requestSpacing) recordSuccess(at, sent time.Duration, interval float64) {
	took := inSeconds(at - sent)
	if sent == s.last {
		if s.shortest == 0 || s.gap < s.shortest {
			s.shortest = s.gap
		}
		if s.latency > 0 {
			s.lastDelay = max(0, took-s.latency-s.usualDelay)
			s.usualDelay = max(0, s.usualDelay+latencyWeight*(min(s.lastDelay, maxDelayShare*interval)-delayShare*interval))
		}
	}
	if s.latency == 0 {
		s.latency, s.deviation = took, took/2
		return
	}
	away := min(took-s.latency, max(maxDeviations*s.deviation, latencyWeight*s.latency))
	s.latency += latencyWeight * away
	if s.deviation += latencyWeight * (max(away, -away) - s.deviation); s.deviation < tinyDeviation {
		s.deviation = 0 // denormal numbers are slow
	}
}

// isPlausible reports whether the refused request followed the previous one more closely than any request that
// passed.
func (s *requestSpacing) isPlausible(sent time.Duration) bool {
	return !s.ruledOut && sent == s.last && s.shortest > 0 && s.gap < 0.97*s.shortest
}

// addStrike counts an early refusal at a pace that had worked before.
func (s *requestSpacing) addStrike(n float64, early bool) {
	switch {
	case n < fewAnswers:
		s.strikes += 2
	case early && n < earlyCount:
		s.strikes++
	default:
		s.strikes = 0
	}
	if s.strikes >= maxStrikes {
		s.ruleOut()
	}
}

// ruleOut records that the provider does not limit the distance.
func (s *requestSpacing) ruleOut() { *s = requestSpacing{ruledOut: true, gap: s.gap, last: s.last} }
