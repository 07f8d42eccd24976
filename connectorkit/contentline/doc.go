// Package contentline reads the lines of which calendars (iCalendar) and address cards
// (vCard) are made: NAME;PARAMETER=value:value, folded, nested between BEGIN and END.
//
// It reads what is met in the wild. An invalid line affects no other line, what
// does not end is ended by what follows, and bytes that are no UTF-8 are read as
// Windows-1252. Nothing fails: callers get the components that exist.
package contentline
