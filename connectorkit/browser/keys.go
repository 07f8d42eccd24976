package browser

import (
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// keyCodes are the numbers that pages of any age know named keys by.
var keyCodes = map[string]int64{
	"Backspace": 8, "Tab": 9, "Enter": 13, "Shift": 16, "Control": 17, "Alt": 18, "CapsLock": 20, "Escape": 27, " ": 32,
	"PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
	"Insert": 45, "Delete": 46, "Meta": 91, "F1": 112, "F2": 113, "F3": 114, "F4": 115, "F5": 116, "F6": 117, "F7": 118,
	"F8": 119, "F9": 120, "F10": 121, "F11": 122, "F12": 123,
}

// Modifiers that make a key a command instead of a text.
const (
	withAlt     = 1
	withControl = 2
	withMeta    = 4
)

// keyEvent returns the event of one key, down or up. A key of a character types it.
func keyEvent(i surface.Input) input.DispatchKeyEventParams {
	e := input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeKeyUp, Key: i.Key, Code: i.Code, Modifiers: int64(i.Modifiers),
		WindowsVirtualKeyCode: keyCode(i.Key),
	}
	if i.Action != surface.ActionDown {
		return e
	}
	e.Type = input.DispatchKeyEventTypeRawKeyDown
	command := i.Modifiers&(withControl|withMeta) != 0 || i.Modifiers&withAlt != 0 && i.Modifiers&withControl == 0
	switch {
	case i.Key == "Enter":
		e.Type, e.Text = input.DispatchKeyEventTypeKeyDown, "\r"
	case utf8.RuneCountInString(i.Key) == 1 && !command:
		e.Type, e.Text = input.DispatchKeyEventTypeKeyDown, i.Key
	}
	if command && i.Modifiers&withControl != 0 {
		e.Commands = editing[i.Key]
	}
	return e
}

// editing are commands that a browser without a window does not find by their keys.
var editing = map[string][]string{"a": {"selectAll"}, "z": {"undo"}, "y": {"redo"}}

func keyCode(key string) int64 {
	if code, named := keyCodes[key]; named {
		return code
	}
	if len(key) != 1 {
		return 0
	}
	c := key[0]
	switch {
	case c >= 'a' && c <= 'z':
		return int64(c - 'a' + 'A')
	case c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return int64(c)
	}
	return 0
}
