// Package examples has no code of its own: its tests run the scripts under
// examples/ as a reader of the README would, with the real launcher and the
// machine's Python, without torch.
package examples
