# Survives the hang-up of its terminal, unlike the launcher, and notes how that ended.
trap : HUP
lenslaunch "$@"
echo $? >"$TMPDIR/code"
