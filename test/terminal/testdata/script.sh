# Reads the terminal after the launcher has ended.
lenslaunch --nproc 1 -- python3 ask.py
printf 'and now? '
read -r line
echo "the script read $line"
