// Package doctor looks at a machine before a launch: what will fail, what may, and what
// to do about each. Every check is a function of a [Subject] that says what the launch
// would be, and returns [Finding]s; none of them changes anything that outlives it.
//
//	Subject (flags, environment, place) --> checks --> findings, in a fixed order
//
// It promises that a finding of [Problem] is a launch that will fail, or ranks that will
// not find each other, and that each finding but [Good] says what to do. A check that
// cannot tell says so, and is no problem. What asks others (names, collectors) has some
// seconds for it, however silent they are.
//
// What it does not do: it decides nothing about ranks (the caller brings the decision
// with it), starts none, and sends nothing to a collector but the opening of a
// connection.
//
// Source: issue 6, and the launch specification (`lenslaunch doctor`).
package doctor
