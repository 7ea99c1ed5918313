# What a script starts with & ignores INT and QUIT, and has no terminal to read.
lenslaunch --nproc 4 -- python3 ignored.py &
wait $!
echo "the launcher ended with $?"
