package providersim

import "context"

// PageFault is how one page of a list must misbehave. The zero value changes
// nothing.
type PageFault struct {
	short, repeat, self bool
	items               int
}

// Size returns how many items the page holds for a requested limit. Zero means an empty page; its next cursor must
// still differ from its own.
func (p PageFault) Size(limit int) int {
	if p.short {
		return min(limit, p.items)
	}
	return limit
}

// Next returns the cursor and the more-follows flag that the page announces.
// own is the cursor that leads to this very page.
func (p PageFault) Next(own, next string, more bool) (string, bool) {
	switch {
	case p.self:
		return own, true
	case p.repeat && more:
		return own, true
	}
	return next, more
}

type pageFaultKey struct{}

func withPageFault(ctx context.Context, p PageFault) context.Context {
	return context.WithValue(ctx, pageFaultKey{}, p)
}

// PageFaultFrom returns the page fault that the gate chose for a request.
func PageFaultFrom(ctx context.Context) PageFault {
	p, _ := ctx.Value(pageFaultKey{}).(PageFault)
	return p
}
