package browser

import (
	"context"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

const (
	// maxActs bounds what an owner, or a program in their place, does to a page in a second.
	maxActs = 200
	// listLimit bounds the look for a list under the pointer; a page that does not answer in it
	// gets the click as it is, and shows a list where the owner cannot see it.
	listLimit = 2 * time.Second
)

// inputHandler does to a page what the owner does, and nothing else: it knows the kinds of input
// and no other command.
type inputHandler struct {
	second time.Time // the one that is counted
	acts   int
	lists  int
	list   string // the id of the list that is open
	held   bool   // the press that opened it was kept from the page
	limit  time.Duration
}

func newInputHandler() *inputHandler { return &inputHandler{limit: listLimit} }

// allowed counts acts; those beyond the bound are dropped.
func (h *inputHandler) allowed(now time.Time) bool {
	if now.Sub(h.second) >= time.Second {
		h.second, h.acts = now, 0
	}
	h.acts++
	return h.acts <= maxActs
}

// apply performs one input. A click on a list or a picker returns its choices instead, because the browser's own popup
// is not part of the picture. A page that shows a dialog answers nothing until the dialog is closed.
func (h *inputHandler) apply(ctx context.Context, t *tab, i surface.Input, dialog bool) (surface.Choices, bool) {
	if !h.allowed(time.Now()) {
		return surface.Choices{}, false
	}
	switch i.Kind {
	case surface.InputPointer:
		return h.applyPointer(ctx, t, i, dialog)
	case surface.InputWheel:
		t.s.Post(input.DispatchMouseEvent.Method, input.DispatchMouseEventParams{
			Type: input.DispatchMouseEventTypeMouseWheel, X: i.X, Y: i.Y, DeltaX: i.DX, DeltaY: i.DY,
			Modifiers: int64(i.Modifiers),
		})
	case surface.InputKey:
		t.s.Post(input.DispatchKeyEvent.Method, keyEvent(i))
	case surface.InputText:
		t.s.Post(input.InsertText.Method, input.InsertTextParams{Text: i.Text})
	case surface.InputBack:
		navigateBack(ctx, t)
	case surface.InputReload:
		t.s.Post(page.Reload.Method, page.ReloadParams{})
	}
	return surface.Choices{}, false
}

var pointerTypes = map[string]input.DispatchMouseEventType{
	surface.ActionMove: input.DispatchMouseEventTypeMouseMoved,
	surface.ActionDown: input.DispatchMouseEventTypeMousePressed,
	surface.ActionUp:   input.DispatchMouseEventTypeMouseReleased,
}

func (h *inputHandler) applyPointer(
	ctx context.Context, t *tab, i surface.Input, dialog bool,
) (surface.Choices, bool) {
	if i.Action == surface.ActionDown && i.Button == "left" && !dialog {
		if list, found := h.openChoices(ctx, t, i.X, i.Y); found {
			h.held = true
			return list, true
		}
		h.held = false
	}
	if i.Action == surface.ActionUp && h.held {
		h.held = false
		return surface.Choices{}, false
	}
	button := input.MouseButton(i.Button)
	if button == "" {
		button = input.MouseButtonNone
	}
	t.s.Post(input.DispatchMouseEvent.Method, input.DispatchMouseEventParams{
		Type: pointerTypes[i.Action], X: i.X, Y: i.Y, Button: button, Buttons: int64(i.Buttons), ClickCount: int64(i.Clicks),
		Modifiers: int64(i.Modifiers),
	})
	return surface.Choices{}, false
}

// listUnder finds a list or a picker at a place, through frames of the same site and shadow
// trees, and remembers it for chooseFrom.
const listUnder = `(x, y, most, room, pickers) => {
	let e = document.elementFromPoint(x, y);
	for (let deep = 0; e && deep < 20; deep++) {
		let inner = null;
		if (e.shadowRoot) inner = e.shadowRoot.elementFromPoint(x, y);
		else if (e.tagName === "IFRAME") {
			try {
				const box = e.getBoundingClientRect();
				x -= box.left + e.clientLeft; y -= box.top + e.clientTop;
				inner = e.contentDocument?.elementFromPoint(x, y);
			} catch { return null; }
		}
		if (!inner || inner === e) break;
		e = inner;
	}
	const label = e?.closest?.("label")?.control;
	if (label && pickers.includes(label.type)) e = label;
	e = e?.closest?.("select, input");
	if (!e || e.matches(":disabled")) return null;
	if (e.tagName === "INPUT") {
		if (!pickers.includes(e.type) || e.readOnly) return null;
		e.focus();
		globalThis.pdppList = e;
		const short = (text) => text.length < 60 ? text : "";
		return {picker: e.type, value: short(e.value), min: short(e.min), max: short(e.max), step: short(e.step)};
	}
	if (e.multiple || e.size > 1) return null;
	e.focus();
	globalThis.pdppList = e;
	const options = [];
	for (const o of [...e.options].slice(0, most)) {
		const one = {label: o.label.slice(0, 1000), value: String(o.index), selected: o.selected,
		disabled: o.disabled || !!o.closest("optgroup")?.disabled};
		room -= 3 * one.label.length + 8;
		if (room < 0) break;
		options.push(one);
	}
	return {options};
}`

// chooseFrom sets what was chosen. A value that the field cannot have leaves it as it is.
const chooseFrom = `value => {
	const e = globalThis.pdppList;
	delete globalThis.pdppList;
	if (!e?.isConnected || e.matches(":disabled")) return;
	if (e.tagName === "INPUT") {
		const before = e.value;
		e.value = value;
		if (!e.value && value || e.type === "color" && e.value !== value.toLowerCase()) e.value = before;
		if (e.value === before) return;
	} else {
		const index = value === "" ? -1 : Number(value);
		if (!e.options[index] || e.options[index].disabled) return;
		e.selectedIndex = index;
	}
	e.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
	e.dispatchEvent(new Event("change", {bubbles: true}));
}`

func (h *inputHandler) openChoices(ctx context.Context, t *tab, x, y float64) (surface.Choices, bool) {
	limited, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	var found *surface.Choices
	err := t.call(limited, listUnder, &found, x, y, surface.MaxChoices, surface.MaxChoiceText, surface.Pickers)
	if err != nil || found == nil {
		return surface.Choices{}, false
	}
	h.lists++
	h.list = "list-" + strconv.Itoa(h.lists)
	found.ID = h.list
	return *found, true
}

func (h *inputHandler) choose(ctx context.Context, t *tab, c surface.Choose) {
	if c.ID != h.list || !c.Accept {
		return
	}
	h.list = ""
	limited, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	_ = t.call(limited, chooseFrom, nil, c.Value) // the page shows whether it was taken
}

// navigateBack goes to the document before, if there is one.
func navigateBack(ctx context.Context, t *tab) {
	limited, cancel := context.WithTimeout(ctx, screenTimeout)
	defer cancel()
	past, err := cdp.Call(limited, t.s, page.GetNavigationHistory, cdp.Empty{})
	if err != nil || past.CurrentIndex < 1 || int(past.CurrentIndex) > len(past.Entries) {
		return
	}
	before := past.Entries[past.CurrentIndex-1]
	if bareAddress(before.URL) == "" {
		return // the empty page that every tab begins with
	}
	t.s.Post(page.NavigateToHistoryEntry.Method, page.NavigateToHistoryEntryParams{EntryID: before.ID})
}
